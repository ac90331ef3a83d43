"""For whom does it work? ENOUGH by length of history, match coverage and difficulty of the input.

In: reported requests. Out: a row for each of them, under ENOUGH and under a fixed length, with its
three numbers and its three buckets (paper: Table app-subgroups). Borders between buckets are
quantiles of the slice on which everything is chosen; reported requests never move them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.first_records import first_records
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.stress.subgroup_rows import Buckets, SubgroupRow, SubgroupsConfig
from enough.diagnostics.stress.subgroups_section import section
from enough.diagnostics.tried import OURS
from enough.teacher.supervision import Subject


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of a request before anything is chosen for it."""

    task: str
    history: float
    coverage: float
    difficulty: float


@dataclass(frozen=True, slots=True)
class Borders:
    """Between buckets; difficulty has its own for every task."""

    history: tuple[float, ...]
    coverage: tuple[float, ...]
    difficulty: Mapping[str, tuple[float, ...]]


def quantile_borders(values: Sequence[float], buckets: int) -> tuple[float, ...]:
    """Values that divide a sample into so many parts of about the same size."""
    shares = [part / buckets for part in range(1, buckets)]
    return tuple(float(one) for one in np.quantile(np.asarray(values, np.float64), shares))


def bucket_of(value: float, borders: Sequence[float]) -> int:
    """Which part a value falls into, counted from 0.

    A value at a border belongs above it. Where several borders are one and the same number, the
    value at it belongs to the middle of the parts they divide: neither low nor high.

    >>> [bucket_of(x, (2.0, 4.0)) for x in (1, 2, 3, 4)], bucket_of(1, (1.0, 1.0))
    ([0, 1, 1, 2], 1)
    """
    below = int(np.searchsorted(borders, value, side="left"))
    up_to = int(np.searchsorted(borders, value, side="right"))
    return (below + up_to) // 2 if up_to - below > 1 else up_to


def frozen_borders(traits: Sequence[Traits], config: SubgroupsConfig) -> Borders:
    """Quantiles of the slice on which everything is chosen."""
    tasks = dict.fromkeys(one.task for one in traits)
    return Borders(
        quantile_borders([one.history for one in traits], len(config.history)),
        quantile_borders([one.coverage for one in traits], len(config.coverage)),
        {
            task: quantile_borders(
                [one.difficulty for one in traits if one.task == task], len(config.difficulty)
            )
            for task in tasks
        },
    )


def placed(one: Traits, borders: Borders, config: SubgroupsConfig) -> Buckets | None:
    """The buckets of a request; None for a task that the borders were not made with."""
    if (of_task := borders.difficulty.get(one.task)) is None:
        return None
    return Buckets(
        history=config.history[bucket_of(one.history, borders.history)],
        coverage=config.coverage[bucket_of(one.coverage, borders.coverage)],
        difficulty=config.difficulty[bucket_of(one.difficulty, of_task)],
    )


def traits_of(lab: Laboratory, subjects: Sequence[Subject]) -> list[Traits]:
    """Of every request; the empty profile is scored for it."""
    study, examples = lab.study, [subject.space.case.example for subject in subjects]
    sequences = [lab.prompter.sequence(example) for example in examples]
    scores = lab.generator.score(sequences)
    legal = study.stages.controls.legal_many(
        [example.request for example in examples],
        [study.datasets[e.request.task.name].history(e.request) for e in examples],
        [example.reference for example in examples],
    )
    return [
        Traits(
            task=subject.space.case.example.request.task.name,
            history=float(len(history.records)),
            coverage=coverage_of(subject.space.case.controls),
            difficulty=-float(score),
        )
        for subject, history, score in zip(subjects, legal, scores, strict=True)
    ]


def coverage_of(controls: Sequence[Sequence[object]]) -> float:
    """Share of pool records with controls; an empty pool has none."""
    return sum(bool(found) for found in controls) / len(controls) if controls else 0.0


def measure(lab: Laboratory, config: SubgroupsConfig) -> list[SubgroupRow]:
    """Rows of ENOUGH, then of the fixed length."""
    borders = frozen_borders(traits_of(lab, lab.subjects(lab.study.config.choose_on)), config)
    found = [
        (subject, one, buckets)
        for subject, one in zip(lab.subjects(), traits_of(lab, lab.subjects()), strict=True)
        if (buckets := placed(one, borders, config)) is not None
    ]
    subjects = [subject for subject, _, _ in found]
    length = config.compare_length
    profiles = {
        OURS: lab.chosen(lab.policy(), subjects),
        f"k = {length}": [first_records(subject, length) for subject in subjects],
    }
    wanted = [pair for of in profiles.values() for pair in zip(subjects, of, strict=True)]
    tried = iter(lab.try_profiles(wanted, "subgroups"))
    return [
        SubgroupRow(
            method=name,
            history=one.history,
            coverage=one.coverage,
            difficulty=one.difficulty,
            bucket=buckets,
            history_borders=borders.history,
            coverage_borders=borders.coverage,
            difficulty_borders=borders.difficulty[one.task],
            tried=next(tried),
        )
        for name in profiles
        for _, one, buckets in found
    ]


SUBGROUPS = Diagnostic("subgroups", SubgroupsConfig, SubgroupRow, measure, section)
