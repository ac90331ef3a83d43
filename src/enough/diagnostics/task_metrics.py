"""Official metrics of one task from rows of `Tried`, with what they are in every draw of users.

In: rows of one task. Out: estimates, and the lead of one method over another in points: times 100,
errors with their sign turned, so that more is better for every metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from enough.diagnostics.tried import Tried
from enough.evaluation.intervals import Estimate, Interval, Resampling, difference, estimate
from enough.evaluation.metrics import example_scores, metric_parts, metric_value
from enough.tasks import METRIC_IS_HIGHER_BETTER, Task


def by_task(rows: Iterable[Tried]) -> dict[str, list[Tried]]:
    """Rows of every task, in the order in which tasks first appear."""
    found: dict[str, list[Tried]] = {}
    for row in rows:
        found.setdefault(row.task, []).append(row)
    return found


def metric_estimate(
    rows: Sequence[Tried], task: Task, metric: str, resampling: Resampling | None = None
) -> Estimate:
    """The metric as it is, from 0 up; on given draws of the rows' users, or on its own."""
    drawn = resampling or Resampling([row.user for row in rows])
    return estimate(parts_of(rows, task, metric), drawn, metric_value(metric))


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of several, draw by draw."""
    draws = np.mean([one.draws for one in estimates], axis=0)
    return Estimate(fmean(one.observed for one in estimates), draws)


def points(found: Estimate) -> Interval:
    """A metric times 100."""
    one = found.interval
    return Interval(100 * one.mean, 100 * one.low, 100 * one.high)


def orientation(metric: str) -> float:
    """−1 for errors."""
    return 1.0 if METRIC_IS_HIGHER_BETTER[metric] else -1.0


def lead(ours: Sequence[Tried], theirs: Sequence[Tried], task: Task, metric: str) -> Interval:
    """Ours less theirs in points, request by request, on the same draws of users.

    Raises:
        ValueError: if the two are not rows of the same requests.
    """
    known = {row.request_id: row for row in theirs}
    if len(ours) != len(theirs) or any(row.request_id not in known for row in ours):
        raise ValueError("only rows of the same requests can be compared")
    paired = [known[row.request_id] for row in ours]
    both = (parts_of(ours, task, metric), parts_of(paired, task, metric))
    found = difference(*both, [row.user for row in ours], metric_value(metric))
    sign = orientation(metric)
    # Adding zero keeps a turned sign from making a zero negative.
    return points(Estimate(sign * found.observed + 0.0, sign * found.draws + 0.0))


def parts_of(rows: Sequence[Tried], task: Task, metric: str) -> NDArray[np.float64]:
    """What every row contributes to a metric, [n, p]; see `evaluation.metrics`."""
    answers, references = [row.answer for row in rows], [row.reference for row in rows]
    scores = [example_scores(task, *both) for both in zip(answers, references, strict=True)]
    return metric_parts(task, metric, answers, references, scores)
