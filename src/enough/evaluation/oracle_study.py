"""An exact-oracle diagnostic over data sets: score everything, then judge everything.

In: data sets, settings, a generator. Out: rows of `sufficiency`. Scores are the generator's; with a
cached one an interrupted study goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enough.data.splits import draw_examples
from enough.errors import BudgetError, DataError
from enough.evaluation.sufficiency import FIXED, SufficiencyRow, judge_all
from enough.labels.folder import LabelFolder
from enough.progress import OnStep
from enough.prompts.prompter import Prompter
from enough.protocols import Generator, Selector
from enough.records import Dataset, Example
from enough.teacher.calibration import calibrate
from enough.teacher.components import Scale, scaled_components
from enough.teacher.oracle import exact_tree, exact_values, reduced
from enough.teacher.oracle_config import OracleConfig
from enough.teacher.preparation import Stages, cases_of
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.supervision import ScoreCall, Subject

log = logging.getLogger(__name__)
Scored = tuple[Subject, ScoredTree]


def drawn(dataset: Dataset, config: OracleConfig) -> list[Example]:
    """The requests that are studied."""
    return draw_examples(dataset, config.split, config.requests, config.seed, config.slices)


def scored_requests(
    datasets: Sequence[Dataset],
    config: OracleConfig,
    stages: Stages,
    generator: Generator,
    on_step: OnStep,
) -> list[Scored]:
    """Every drawn request with all of its profiles scored, one request after the other."""
    prompter = Prompter(generator.tokenizer)
    scored = []
    for dataset in datasets:
        examples = drawn(dataset, config)
        for done, case in enumerate(cases_of(dataset, examples, stages, on_step), start=1):
            small = reduced(case, config.pool)
            try:
                subject = Subject(small, prompter, generator.window, config.max_records)
            except BudgetError as error:
                log.warning("left out: %s", error)
                continue
            step = partial(on_step, f"{dataset.task.name}: scoring", done - 1, len(examples))
            scored.append((subject, exact_tree(subject, config, _told(generator, step))))
            on_step(f"{dataset.task.name}: scoring", done, len(examples))
    return scored


def _told(generator: Generator, step: Callable[[str], None]) -> ScoreCall:
    """Scores for one request's search, and says how many profiles are done."""
    profiles = 0

    def on_batch(members: NDArray[np.int64], _: NDArray[np.float64]) -> None:
        nonlocal profiles
        profiles += len(members)
        step(f"{profiles:,} profiles of this request")

    return lambda sequences: generator.score(sequences, on_batch)


def require_same_generator(folder: Path, generator: Generator) -> None:
    """Refuse labels whose likelihoods are another model's."""
    made_with = LabelFolder(folder).made_with()
    if made_with is not None and made_with.generator != generator.fingerprint:
        raise DataError(
            f"was labelled with another generator ({made_with.generator}, not "
            f"{generator.fingerprint}); its scales mean nothing here",
            path=folder,
        )


def label_scales(folder: Path, datasets: Sequence[Dataset]) -> dict[str, Scale]:
    """The frozen scales of a finished labelling run, which must have all these tasks."""
    scales = LabelFolder(folder).scales()
    for dataset in datasets:
        if dataset.task.name not in scales:
            raise DataError(f"holds no labels of {dataset.task.name}", path=folder)
    return scales


def measured_scales(scored: Sequence[Scored], config: OracleConfig) -> dict[str, Scale]:
    """Of the trees at hand; nothing is known of the scorer's noise, so there is no floor."""
    tasks = dict.fromkeys(tree.of.task for _, tree in scored)
    return {
        task: calibrate(
            (tree for _, tree in scored if tree.of.task == task), [], config.calibration
        ).scale
        for task in tasks
    }


def judged(
    scored: Sequence[Scored],
    scales: dict[str, Scale],
    config: OracleConfig,
    selectors: Mapping[str, Selector] = FIXED,
) -> list[SufficiencyRow]:
    """Rows of the oracle, the teachers and the selectors, for every request."""
    rows = []
    for subject, tree in scored:
        scale = scales[tree.of.task]
        components = scaled_components(tree, scale)
        exact = exact_values(tree, components, config.targets, config.epsilon)
        rows += judge_all(exact, subject, config, scale, selectors)
    return rows
