"""Hand-made rows of `Tried`, and a toy laboratory whose studies heed the retriever they name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from enough.data.folders import datasets_of
from enough.diagnostics.diagnostic import About
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.study import Study, StudyConfig
from enough.diagnostics.tried import Tried
from enough.evaluation.workshop import Workshop
from enough.progress import OnStep
from enough.retrieval.registry import build_retriever
from enough.tasks import LAMP_TASKS
from tests.diagnostics.toy import POINT, load_words, toy_config
from tests.evaluation.evaluate_fakes import Worded, stages

ABOUT = About(LAMP_TASKS, POINT, max_records=3, is_made_up=True)


def tried(number: int, answer: str, reference: str, task: str = "LaMP-1", **changes: Any) -> Tried:
    """Request qN of user uN, unless said otherwise."""
    row = Tried(
        task=task,
        request_id=f"q{number}",
        user=f"u{number}",
        records=("r1",),
        tokens=10,
        answer=answer,
        reference=reference,
        score=float(answer == reference),
        empty_score=0.0,
        log_likelihood_gain=0.0,
    )
    return replace(row, **changes)


def open_with_retriever(config: StudyConfig, folder: Path, on_step: OnStep) -> Study:
    datasets = {one.task.name: one for one in datasets_of(config.data, config.world)}
    ready = stages(config.label.retrieval.pool, config.label.matching)
    retriever = build_retriever(config.label.retrieval.retriever, ready.encoder)
    ready = replace(ready, retriever=retriever)
    shop = Workshop(folder, list(datasets.values()), ready, on_step, load=load_words)
    labels = shop.label("labels", config.label)
    trained = shop.train(labels, "controller", config.train)
    return Study(config, config.label, datasets, ready, shop, labels, trained)


def heeding_laboratory(folder: Path, **changes: Any) -> Laboratory:
    config = toy_config(**changes)
    return Laboratory(config, folder, generator=Worded(), opening=open_with_retriever)


@contextmanager
def own_cache(folder: Path) -> Iterator[None]:
    """Scores and answers of a module stay in its own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENOUGH_CACHE", str(folder))
        yield
