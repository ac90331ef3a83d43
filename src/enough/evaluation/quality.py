"""One number for all tasks, and how often a profile did harm.

In: metrics of methods, or scores of requests. Out: the direction-normalised quality index and the
harm rate.

The paper calls its index the equal-weight mean of task-normalised scores with every metric oriented
so that higher is better, and gives its method 100; it does not write the formula. Here: each
official metric is divided by that of a reference method (for errors, the reference's is divided by
it), a task's index is 100 times the mean over its metrics, and the index is the mean over tasks. On
the paper's own main table this comes within 0.7 points of its quality column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from enough.tasks import METRIC_IS_HIGHER_BETTER

Metrics = Mapping[str, float]
"""Metric -> value, of one task."""


def quality_index(values: Mapping[str, Metrics], reference: Mapping[str, Metrics]) -> float | None:
    """The index of a method over the reference's tasks; the reference itself has 100.

    None where there is no such number: a task that the method was not run on, or a metric that is
    zero where it would have to be divided by.

    >>> quality_index({"a": {"accuracy": 0.6}, "b": {"mae": 0.4}},
    ...               {"a": {"accuracy": 0.5}, "b": {"mae": 0.2}})
    85.0
    """
    if not reference or not reference.keys() <= values.keys():
        return None
    ratios = [
        [_ratio(metric, values[task][metric], of) for metric, of in metrics.items()]
        for task, metrics in reference.items()
    ]
    known = [[ratio for ratio in of_task if ratio is not None] for of_task in ratios]
    if known != ratios:
        return None
    return 100 * fmean(map(fmean, known))


def _ratio(metric: str, ours: float, reference: float) -> float | None:
    if ours == reference:
        return 1.0
    if not METRIC_IS_HIGHER_BETTER[metric]:
        ours, reference = reference, ours
    return ours / reference if reference else None


def harm(scores: Sequence[float], without: Sequence[float]) -> float:
    """Share of requests that are worse off than with the empty profile.

    Args:
        scores: of each request under the leading metric, higher being better
            (`metrics.oriented_score`).
        without: those of the answers to the empty profile, of the same requests.
    """
    return fmean(one < empty for one, empty in zip(scores, without, strict=True))
