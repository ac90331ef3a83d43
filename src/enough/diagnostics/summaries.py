"""Means over rows of `Tried`, with intervals over users, and the quality index beside a reference.

In: rows of one setting, and rows of the reference on the same requests. Out: `Summary`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from enough.diagnostics.task_metrics import by_task, mean_of, metric_estimate
from enough.diagnostics.tried import Tried
from enough.evaluation.intervals import Estimate, Interval, Resampling, clustered
from enough.tasks import METRIC_IS_HIGHER_BETTER, Task


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over requests.

    Attributes:
        quality: the direction-normalised index, 100 being the reference; None where a metric of
            the reference is zero.
        harm: share of requests whose answer is worse than without a profile.
        root_stop: share of requests without a profile.
        log_likelihood_gain: g per reference token.
        specificity, net: p̄ and J; None where rows have none.
    """

    requests: int
    quality: Interval | None
    tokens: Interval
    records: float
    harm: Interval
    root_stop: float
    log_likelihood_gain: Interval
    specificity: Interval | None
    net: Interval | None


def summarise(
    rows: Sequence[Tried], reference: Sequence[Tried], tasks: Mapping[str, Task]
) -> Summary:
    """Of at least one row."""
    users = [row.cluster for row in rows]

    def mean(values: Sequence[float | None]) -> Interval | None:
        known = [(v, u) for v, u in zip(values, users, strict=True) if v is not None]
        return clustered([v for v, _ in known], [u for _, u in known]) if known else None

    def always(values: Sequence[float]) -> Interval:
        return clustered(values, users)

    return Summary(
        requests=len(rows),
        quality=quality(rows, reference, tasks),
        tokens=always([row.tokens for row in rows]),
        records=fmean(len(row.records) for row in rows),
        harm=always([float(row.is_harmed) for row in rows]),
        root_stop=fmean(not row.records for row in rows),
        log_likelihood_gain=always([row.log_likelihood_gain for row in rows]),
        specificity=mean([row.specificity for row in rows]),
        net=mean([row.net for row in rows]),
    )


def share_in_words(share: Interval) -> str:
    """For sentences: per cent, with where it may lie."""
    return f"{share.mean:.0%} ({share.low:.0%} to {share.high:.0%})"


def listed(names: Iterable[str]) -> str:
    """For sentences: names, the last after "and"."""
    every = list(names)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"


def quality(
    rows: Sequence[Tried], reference: Sequence[Tried], tasks: Mapping[str, Task]
) -> Interval | None:
    """The index of `evaluation.quality` with an interval; both sides see the same draws of users.

    None where it is not defined, or the two are not rows of the same requests of all tasks.
    """
    ours, theirs = by_task(rows), by_task(reference)
    if not ours or ours.keys() != theirs.keys():
        return None
    of_tasks = []
    for number, (name, of_task) in enumerate(ours.items()):
        known = {row.request_id: row for row in theirs[name]}
        if {row.request_id for row in of_task} != known.keys():
            return None
        paired = [known[row.request_id] for row in of_task]
        # Draws of its own: the same number of users in another task are other people.
        resampling = Resampling([row.user for row in of_task], seed=1 + number)
        for_metrics = []
        for metric in tasks[name].metrics:
            ratio = _ratio(
                metric_estimate(of_task, tasks[name], metric, resampling),
                metric_estimate(paired, tasks[name], metric, resampling),
                is_higher_better=METRIC_IS_HIGHER_BETTER[metric],
            )
            if ratio is None:
                return None
            for_metrics.append(ratio)
        of_tasks.append(mean_of(for_metrics))
    found = mean_of(of_tasks)
    return Estimate(100 * found.observed, 100 * found.draws).interval


def _ratio(ours: Estimate, reference: Estimate, *, is_higher_better: bool) -> Estimate | None:
    """Draws in which the divisor is zero are set to the middle of the others."""
    if np.array_equal(ours.draws, reference.draws) and ours.observed == reference.observed:
        return Estimate(1.0, np.ones_like(ours.draws))
    above, below = (ours, reference) if is_higher_better else (reference, ours)
    if not below.observed:
        return None
    defined = below.draws != 0
    draws = np.divide(above.draws, below.draws, out=np.ones_like(above.draws), where=defined)
    draws[~defined] = np.median(draws[defined])
    return Estimate(above.observed / below.observed, draws)
