"""What changes from a reference to a variant on the same requests, with intervals over users.

In: values of both by request. Out: mean differences, users drawn with replacement, both sides on
the same draws. A change is only claimed where its interval leaves zero out and there are users
enough to draw from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from enough.diagnostics.summaries import quality
from enough.diagnostics.task_metrics import parts_of
from enough.diagnostics.tried import Tried
from enough.evaluation.intervals import Interval, difference
from enough.evaluation.metrics import metric_value
from enough.tasks import Task


@dataclass(frozen=True, slots=True)
class Judged:
    """A request under one setting, with its regret where the exact values are known."""

    tried: Tried
    regret: float | None = None


Measure = Callable[[Judged], float | None]

MEASURES: Mapping[str, Measure] = {
    "J": lambda one: one.tried.net,
    "Tokens": lambda one: one.tried.tokens,
    "Harm": lambda one: float(one.tried.is_harmed),
    "Root STOP": lambda one: float(not one.tried.records),
    "Regret": lambda one: one.regret,
}


def change(
    ours: Sequence[Judged], reference: Sequence[Judged], measure: Measure
) -> Interval | None:
    """Mean of ours less theirs over requests on which both are known; None if there is none."""
    theirs = {_key(one): measure(one) for one in reference}
    both = [
        (value, before, one.tried.cluster)
        for one in ours
        if (value := measure(one)) is not None and (before := theirs.get(_key(one))) is not None
    ]
    if not both:
        return None
    values = np.array([[value, before] for value, before, _ in both], np.float64)
    return difference(values[:, 0], values[:, 1], [user for _, _, user in both]).interval


def metric_change(
    ours: Sequence[Judged], reference: Sequence[Judged], task: Task
) -> Interval | None:
    """Change of a task's leading metric, in the metric's own direction."""
    theirs = {_key(one): one.tried for one in reference}
    pairs = [
        (one.tried, theirs[_key(one)])
        for one in ours
        if one.tried.task == task.name and _key(one) in theirs
    ]
    if not pairs:
        return None
    metric = task.metrics[0]
    parts = [parts_of([pair[side] for pair in pairs], task, metric) for side in range(2)]
    users = [one.cluster for one, _ in pairs]
    return difference(parts[0], parts[1], users, metric_value(metric)).interval


def quality_change(
    ours: Sequence[Judged], reference: Sequence[Judged], tasks: Mapping[str, Task]
) -> Interval | None:
    """Points of the quality index above or below the reference, which has 100."""
    found = quality([one.tried for one in ours], [one.tried for one in reference], tasks)
    if found is None:
        return None
    return Interval(found.mean - 100, found.low - 100, found.high - 100)


def users_of(rows: Sequence[Judged]) -> int:
    """How many different people asked."""
    return len({one.tried.cluster for one in rows})


def _key(one: Judged) -> tuple[str, str]:
    return one.tried.task, one.tried.request_id
