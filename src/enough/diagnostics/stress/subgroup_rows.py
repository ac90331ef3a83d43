"""Rows of the subgroups, their buckets, and what a bucket's quality is.

Quality of a bucket: official metrics over its requests, each divided by ENOUGH's over all reported
requests of the same task (errors the other way round), mean over metrics and then over the tasks
that the bucket has, times 100. So 100 is one and the same for all buckets and both methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from enough.config import require_at_least
from enough.diagnostics.task_metrics import by_task, mean_of, metric_estimate
from enough.diagnostics.told_apart import FEWEST_USERS
from enough.diagnostics.tried import OURS, Tried
from enough.errors import ConfigError
from enough.evaluation.intervals import Estimate, Interval, Resampling, clustered
from enough.tasks import METRIC_IS_HIGHER_BETTER, Task

DIMENSIONS = ("history", "coverage", "difficulty")
_FEWEST_NAMES = 2


@dataclass(frozen=True, slots=True)
class SubgroupsConfig:
    """Names of the buckets, from low to high; with three of them borders are tertiles.

    Attributes:
        history: records the request may see.
        coverage: share of the pool's records that have matched controls.
        difficulty: −ℓ(∅) per token of the reference, by the quantiles of its own task.
        compare_length: the fixed length beside ENOUGH.
    """

    history: tuple[str, ...] = ("short", "medium", "long")
    coverage: tuple[str, ...] = ("low", "medium", "high")
    difficulty: tuple[str, ...] = ("easy", "medium", "hard")
    compare_length: int = 5

    def __post_init__(self) -> None:
        require_at_least(self, {"compare_length": 0}, "subgroups.")
        for names in (self.history, self.coverage, self.difficulty):
            if len(names) < _FEWEST_NAMES or len(set(names)) < len(names):
                raise ConfigError("subgroups: buckets need at least two names, all different")


@dataclass(frozen=True, slots=True)
class Buckets:
    """Names of the buckets of one request."""

    history: str
    coverage: str
    difficulty: str


@dataclass(frozen=True, slots=True)
class SubgroupRow:
    """One request under one method.

    Attributes:
        history, coverage, difficulty: its numbers.
        bucket: where they fall.
        history_borders, coverage_borders, difficulty_borders: between the buckets, as they were
            frozen; those of difficulty are the task's own.
    """

    method: str
    history: float
    coverage: float
    difficulty: float
    bucket: Buckets
    history_borders: tuple[float, ...]
    coverage_borders: tuple[float, ...]
    difficulty_borders: tuple[float, ...]
    tried: Tried


def bucket_quality(
    rows: Sequence[Tried], everybody: Sequence[Tried], tasks: Mapping[str, Task]
) -> Interval | None:
    """The index of some requests, 100 being ENOUGH on all reported ones of the same tasks.

    The divisors are numbers, not draws: what is uncertain is how the bucket itself does. None where
    one of them is zero, or an error of the bucket is.
    """
    whole, of_tasks = by_task(everybody), []
    for number, (name, of) in enumerate(by_task(rows).items()):
        resampling = Resampling([row.user for row in of], seed=1 + number)  # other people each
        ratios = []
        for metric in tasks[name].metrics:
            ours = metric_estimate(of, tasks[name], metric, resampling)
            common = metric_estimate(whole[name], tasks[name], metric).observed
            ratio = _ratio(ours, common, is_higher_better=METRIC_IS_HIGHER_BETTER[metric])
            if ratio is None:
                return None
            ratios.append(ratio)
        of_tasks.append(mean_of(ratios))
    found = mean_of(of_tasks)
    return Estimate(100 * found.observed, 100 * found.draws).interval


def _ratio(ours: Estimate, common: float, *, is_higher_better: bool) -> Estimate | None:
    if is_higher_better:
        return Estimate(ours.observed / common, ours.draws / common) if common else None
    if not ours.observed:
        return None
    defined = ours.draws > 0  # a draw without any error has no ratio; the others' middle stands in
    draws = np.divide(common, ours.draws, out=np.ones_like(ours.draws), where=defined)
    draws[~defined] = np.median(draws[defined])
    return Estimate(common / ours.observed, draws)


@dataclass(frozen=True, slots=True)
class Group:
    """One bucket: rows of ENOUGH and of the fixed length on the same requests; perhaps none."""

    dimension: str
    name: str
    ours: tuple[Tried, ...]
    fixed: tuple[Tried, ...]

    @property
    def lead(self) -> Interval | None:
        """J of ENOUGH less that of the fixed length, request by request."""
        known = {(row.task, row.request_id): row.net for row in self.fixed}
        pairs = [
            (row.net - other, row.cluster)
            for row in self.ours
            if row.net is not None and (other := known[row.task, row.request_id]) is not None
        ]
        return clustered([d for d, _ in pairs], [u for _, u in pairs]) if pairs else None

    @property
    def sign(self) -> int:
        """Of the lead, as far as it can be told from zero; 0 where it cannot."""
        lead, users = self.lead, {row.cluster for row in self.ours}
        if lead is None or len(users) < FEWEST_USERS:
            return 0
        return (lead.low > 0) - (lead.high < 0)


def groups(rows: Sequence[SubgroupRow], config: SubgroupsConfig) -> list[Group]:
    """All buckets of all dimensions, empty ones too, in the order of the settings."""
    found = []
    for dimension in DIMENSIONS:
        for name in getattr(config, dimension):
            inside = [row for row in rows if getattr(row.bucket, dimension) == name]
            ours = tuple(row.tried for row in inside if row.method == OURS)
            fixed = tuple(row.tried for row in inside if row.method != OURS)
            found.append(Group(dimension, name, ours, fixed))
    return found
