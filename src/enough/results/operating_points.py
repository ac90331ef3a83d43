"""Controllers beside fixed lengths at each operating point, request by request.

In: published outcomes. Out: for every β and λ the reported requests in one order, with what ENOUGH
(the mean over its seeds) and every fixed length did on each, and the fixed lengths that the other
slice chose. Everything is an array over requests, so that whatever is compared is paired.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from enough.errors import DataError
from enough.evaluation.comparison import best_fixed
from enough.evaluation.intervals import Floats, Resampling
from enough.evaluation.published_outcomes import PublishedOutcome


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What one selector did on n requests, [n] each; over several runs, their means.

    Attributes:
        net: J.
        gain: ḡ, in units of the task's scale.
        harmed: whether the likelihood fell below the empty profile's.
        stopped: whether there is no record at all.
        gap: promised less realised J; NaN for a selector that promises nothing.
    """

    net: Floats
    gain: Floats
    tokens: Floats
    harmed: Floats
    stopped: Floats
    gap: Floats

    def at(self, which: Floats) -> Measured:
        """Some of the requests."""
        return Measured(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """One β and λ.

    Attributes:
        tasks, users: of the n requests.
        ours: ENOUGH, the mean over seeds; None without a controller.
        seeds: seed -> ENOUGH's mean J in that run.
        fixed: k -> that fixed length.
        best: the k chosen over all tasks, on the other slice.
        best_of: task -> the k chosen for it, likewise.
    """

    beta: float
    lambda_: float
    tasks: tuple[str, ...]
    users: tuple[str, ...]
    ours: Measured | None
    seeds: Mapping[int | None, float]
    fixed: Mapping[int, Measured]
    best: int
    best_of: Mapping[str, int]

    @property
    def task_names(self) -> list[str]:
        """Each once, in order."""
        return list(dict.fromkeys(self.tasks))

    @property
    def best_per_task(self) -> Measured:
        """On every request the length chosen for its task."""
        chosen = np.array([self.best_of.get(task, self.best) for task in self.tasks])
        lengths = list(self.fixed)
        place = np.array([lengths.index(k) for k in chosen])
        columns = (
            np.stack([getattr(self.fixed[k], field.name) for k in lengths])  # [lengths, n]
            for field in fields(Measured)
        )
        return Measured(*(column[place, np.arange(len(place))] for column in columns))

    def resampling(self) -> Resampling:
        """Users drawn with replacement; one of two tasks counts as two."""
        return Resampling([f"{t}/{u}" for t, u in zip(self.tasks, self.users, strict=True)])

    def of_task(self, task: str) -> OperatingPoint:
        """The requests of one task; seeds keep their J over all."""
        return self.of_tasks([task])

    def of_tasks(self, tasks: Collection[str]) -> OperatingPoint:
        """The requests of some tasks; seeds keep their J over all."""
        which = np.array([one in tasks for one in self.tasks])
        return replace(
            self,
            tasks=tuple(itertools.compress(self.tasks, which)),
            users=tuple(itertools.compress(self.users, which)),
            ours=None if self.ours is None else self.ours.at(which),
            fixed={k: one.at(which) for k, one in self.fixed.items()},
        )


def operating_points(
    rows: Sequence[PublishedOutcome], *, whose: Collection[str | None] = (None,)
) -> list[OperatingPoint]:
    """All that are in the rows, by β and λ.

    Args:
        rows: of a comparison.
        whose: requests that count: None those that are reported, a name those of users who return
            and had been met in that slice.

    Raises:
        DataError: if selectors were judged on different requests, one of them twice, or there are
            no fixed lengths to choose among.
    """
    points = sorted({(row.beta, row.lambda_) for row in rows})
    if not points:
        raise DataError("there are no outcomes")
    return [
        _point([row for row in rows if (row.beta, row.lambda_) == point], *point, whose)
        for point in points
    ]


def _point(
    rows: Sequence[PublishedOutcome], beta: float, lambda_: float, whose: Collection[str | None]
) -> OperatingPoint:
    where = f"β {beta:g}, λ {lambda_:g}"
    asked = [row for row in rows if row.is_reported or row.met_in is not None]
    selectors = _paired([row for row in asked if row.met_in in whose], where)
    lengths: dict[str, int] = {}
    runs: dict[int | None, str] = {}
    for name, judged in selectors.items():
        length, seed = judged[0].length, judged[0].seed
        if length is not None:
            lengths[name] = length
        elif seed in runs:
            raise DataError(f"{where}: {runs[seed]} and {name} both have the seed {seed}")
        else:
            runs[seed] = name
    if not lengths:
        raise DataError(f"{where}: there are no fixed lengths to compare with")
    best, best_of = best_fixed([row for row in rows if row.is_for_choices], list(lengths))
    first = next(iter(selectors.values()))
    return OperatingPoint(
        beta=beta,
        lambda_=lambda_,
        tasks=tuple(row.task for row in first),
        users=tuple(row.user for row in first),
        ours=_measured([selectors[name] for name in runs.values()]) if runs else None,
        seeds={
            seed: float(np.mean([row.net for row in selectors[name]]))
            for seed, name in sorted(runs.items(), key=lambda one: str(one[0]))
        },
        fixed={k: _measured([selectors[name]]) for name, k in _rising(lengths)},
        best=lengths[best],
        best_of={task: lengths[name] for task, name in best_of.items()},
    )


def _rising(lengths: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(lengths.items(), key=lambda one: one[1])


def _paired(rows: Sequence[PublishedOutcome], where: str) -> dict[str, list[PublishedOutcome]]:
    """Rows of every selector, all in the same order of requests."""
    found: dict[str, dict[tuple[str, str], PublishedOutcome]] = {}
    for row in rows:
        of = found.setdefault(row.selector, {})
        if (row.task, row.request) in of:
            raise DataError(f"{where}: {row.selector} was judged twice on {row.request}")
        of[row.task, row.request] = row
    every = next(iter(found.values()), {})
    for name, of in found.items():
        if of.keys() != every.keys():
            raise DataError(f"{where}: {name} was judged on other requests than the rest")
    return {name: [of[key] for key in every] for name, of in found.items()}


def _measured(runs: Sequence[Sequence[PublishedOutcome]]) -> Measured:
    columns = [
        [
            (
                row.net,
                row.gain,
                row.tokens,
                row.gain < 0,
                row.records == 0,
                np.nan if row.promised is None else row.promised - row.net,
            )
            for row in run
        ]
        for run in runs
    ]
    mean = np.array(columns, np.float64).mean(axis=0)  # [n, 6]
    return Measured(*mean.T)
