"""Selectors side by side: means with user-clustered intervals, and against the best fixed length.

In: rows of `outcomes`, some of a split on which choices are made, some of the one reported. Out:
one line per selector. The best fixed length is chosen on the former, over all tasks or for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from enough.evaluation.intervals import Interval, clustered
from enough.evaluation.outcomes import Outcome

BEST, BEST_PER_TASK = "best fixed k", "best fixed k per task"
ALL = "all"


class Judged(Protocol):
    """What is needed of a row to choose by it."""

    @property
    def task(self) -> str:
        """Its task."""

    @property
    def selector(self) -> str:
        """Whose profile it is."""

    @property
    def net(self) -> float:
        """J."""


@dataclass(frozen=True, slots=True)
class Line:
    """One selector's means over the requests of a task, or of all.

    Attributes:
        net: J.
        against_fixed: J minus that of the best fixed length over all tasks, request by request.
        gain, specificity, tokens, records: means.
        harm: share of requests whose likelihood fell below the empty profile's.
        root_stop: share of requests without any record.
        gap: promised minus realised J, where the selector promises.
    """

    selector: str
    task: str
    requests: int
    users: int
    net: Interval
    against_fixed: Interval
    gain: float
    specificity: float
    tokens: float
    records: float
    harm: float
    root_stop: float
    gap: float | None


def best_fixed(chosen_on: Sequence[Judged], fixed: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The fixed selector with the highest mean J over all requests, and that of each task."""
    tasks = dict.fromkeys(row.task for row in chosen_on)

    def highest(task: str | None) -> str:
        rows = [row for row in chosen_on if task in (None, row.task)]
        means = {name: [r.net for r in rows if r.selector == name] for name in fixed}
        return max(fixed, key=lambda name: float(np.mean(means[name])))

    return highest(None), {task: highest(task) for task in tasks}


def with_best_fixed(
    rows: Sequence[Outcome], overall: str, per_task: Mapping[str, str]
) -> list[Outcome]:
    """The rows, and once more those of the best fixed lengths under names of their own.

    Of one task both would be the same.
    """
    every = [replace(row, selector=BEST) for row in rows if row.selector == overall]
    if len({row.task for row in rows}) == 1:
        return [*rows, *every]
    each = [
        replace(row, selector=BEST_PER_TASK)
        for row in rows
        if row.selector == per_task.get(row.task, overall)
    ]
    return [*rows, *every, *each]


def compare(rows: Sequence[Outcome], task: str = ALL) -> list[Line]:
    """One line per selector, of one task or of all; `rows` must come from `with_best_fixed`."""
    chosen = [row for row in rows if task in (ALL, row.task)]
    reference = {(row.task, row.request_id): row.net for row in chosen if row.selector == BEST}
    names = dict.fromkeys(row.selector for row in chosen)
    return [
        _line(name, task, [row for row in chosen if row.selector == name], reference)
        for name in names
    ]


def _line(
    name: str, task: str, rows: Sequence[Outcome], reference: Mapping[tuple[str, str], float]
) -> Line:
    users = [f"{row.task}/{row.user}" for row in rows]
    promised = [(row.promised, row.net) for row in rows if row.promised is not None]
    return Line(
        selector=name,
        task=task,
        requests=len(rows),
        users=len(set(users)),
        net=clustered([row.net for row in rows], users),
        against_fixed=clustered(
            [row.net - reference[row.task, row.request_id] for row in rows], users
        ),
        gain=_mean(rows, lambda row: row.gain),
        specificity=_mean(rows, lambda row: row.specificity),
        tokens=_mean(rows, lambda row: row.tokens),
        records=_mean(rows, lambda row: len(row.profile)),
        harm=_mean(rows, lambda row: row.gain < 0),
        root_stop=_mean(rows, lambda row: not row.profile),
        gap=float(np.mean([p - net for p, net in promised])) if promised else None,
    )


def _mean(rows: Iterable[Outcome], of: Callable[[Outcome], float]) -> float:
    return float(np.mean([of(row) for row in rows]))
