"""What a request costs online: every method on the same requests, one prompt at a time.

In: a laboratory. Out: rows with the parts of every request's time, and the time of decisions alone.
Nothing that was remembered is used: other diagnostics answer many prompts at once, whose seconds
are not those of one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from enough.controller.features import PoolFeatures, featurise
from enough.controller.optimisation import one_thread
from enough.diagnostics.cost.efficiency_rows import (
    DECISION,
    ONLINE,
    EfficiencyConfig,
    EfficiencyRow,
)
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.transfer.contestants import built, equipped
from enough.evaluation.cells import Cell, run_cell
from enough.evaluation.questions import ask
from enough.evaluation.rows import Row
from enough.protocols import Encoder
from enough.retrieval.embedding_cache import CachedEncoder
from enough.teacher.supervision import Subject

T = TypeVar("T")


def online_rows(
    lab: Laboratory, subjects: Sequence[Subject], config: EfficiencyConfig
) -> list[EfficiencyRow]:
    """The parts of every request's time under every method."""
    study = lab.study
    lab.chosen(lab.policy(), subjects)  # vectors of records are known before a request comes
    rows = []
    for name, dataset in study.datasets.items():
        examples = [subject.space.case.example for subject in subjects]
        of_task = [example for example in examples if example.request.task.name == name]
        for one in config.methods if of_task else ():
            equipment = equipped(lab, one, is_timed=True)
            questions = ask(
                dataset,
                of_task,
                study.stages,
                equipment.prompter,
                window=equipment.generator.window,
                max_records=equipment.config.max_records,
            )
            method = built(lab, equipment, one)
            method.answer(questions[0].asked)  # the first call of a model is slower than all others
            cell = Cell(one.title, name, study.config.train.seed)
            for row in run_cell(cell, method, questions, equipment.meters, lab.on_step):
                rows += _measures(row)
    return rows


def _measures(row: Row) -> list[EfficiencyRow]:
    seconds = row.seconds
    found = {
        "retrieval": 1e3 * seconds.retrieval,
        "selection": 1e3 * seconds.selection,
        "generation": 1e3 * seconds.generation,
        "other": 1e3 * seconds.other,
        "profile tokens": row.profile_tokens,
        "calls": row.calls + row.rerank_calls,
        "tokens read": row.prompt_tokens,
    }
    return [
        EfficiencyRow(ONLINE, name, float(value), row.method, row.task, row.request_id, row.user)
        for name, value in found.items()
    ]


def decision_rows(
    lab: Laboratory, subjects: Sequence[Subject], config: EfficiencyConfig
) -> list[EfficiencyRow]:
    """Deciding with features known, making features with vectors known, encoding a query."""
    stages, policy = lab.study.stages, lab.policy()

    def features(subject: Subject) -> PoolFeatures:
        case, budget = subject.space.case, subject.space.budget
        return featurise(case.example.request, case.pool, budget, stages.encoder)

    known = {subject.space.case.name: features(subject) for subject in subjects}
    ways: dict[str, Callable[[Subject], object]] = {
        "decide": lambda subject: policy.decide(known[subject.space.case.name]),
        "features": features,
    }
    encoder = unremembering(stages.encoder)
    ways["encode the query"] = lambda subject: encoder.encode(
        [subject.space.case.example.request.query], "query"
    )
    rows = []
    with one_thread():
        for name, way in ways.items():
            for subject, taken in zip(
                subjects, quietest(way, subjects, config.rounds), strict=True
            ):
                request = subject.space.case.example.request
                of = (request.task.name, request.id, request.user)
                rows.append(EfficiencyRow(DECISION, name, taken, "", *of))
    return rows


def unremembering(encoder: Encoder) -> Encoder:
    """The same encoder without a cache."""
    return encoder.encoder if isinstance(encoder, CachedEncoder) else encoder


def quietest(way: Callable[[T], object], subjects: Sequence[T], rounds: int) -> list[float]:
    """Milliseconds for every subject in the round with the lowest median: others only add time."""
    for subject in subjects:
        way(subject)
    found = [[_milliseconds(way, subject) for subject in subjects] for _ in range(rounds)]
    return min(found, key=lambda times: float(np.median(times)) if times else 0.0)


def _milliseconds(way: Callable[[T], object], subject: T) -> float:
    started = time.perf_counter()
    way(subject)
    return 1e3 * (time.perf_counter() - started)
