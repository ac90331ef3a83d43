"""Means with intervals that know that requests of one user are alike.

In: one value per request and the user who asked. Out: the mean and a percentile interval from
resampling users, not requests (the paper's user-clustered bootstrap). Two methods are compared on
the same draws, request by request; what is no mean (macro F1, RMSE) is computed anew in each draw
from the means it is a function of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Value = Callable[[Floats], Floats]

_DRAWS = 2000
_TOGETHER = 4_000_000  # users drawn at once; bounds the memory


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and where 95% of its resampled values lie."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A value as observed, and as it came out in every draw of users, [draws]."""

    observed: float
    draws: Floats

    @property
    def interval(self) -> Interval:
        """The observed value and the middle 95% of the draws."""
        low, high = np.quantile(self.draws, (0.025, 0.975))
        return Interval(self.observed, float(low), float(high))

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference on the same draws, so both must come from one `Resampling`."""
        return Estimate(self.observed - other.observed, self.draws - other.draws)

    def over(self, other: Estimate) -> Estimate | None:
        """The ratio on the same draws; None where the other is not above zero in all of them."""
        if other.observed <= 0 or other.draws.min() <= 0:
            return None
        return Estimate(self.observed / other.observed, self.draws / other.draws)


class Resampling:
    """Users drawn with replacement, once for everything that is compared on the same requests."""

    def __init__(self, users: Sequence[str], seed: int = 0, draws: int = _DRAWS) -> None:
        if not len(users):
            raise ValueError("no values")
        _, self._cluster = np.unique(np.array(users, dtype=object).astype(str), return_inverse=True)
        self._sizes = np.bincount(self._cluster).astype(np.float64)  # [users]
        self._together = max(1, _TOGETHER // len(self._sizes))
        self._often = np.concatenate(list(self._drawn(seed, draws)))  # [draws, users]

    @property
    def users(self) -> int:
        """How many there are to draw."""
        return len(self._sizes)

    def means(self, values: Floats) -> Floats:
        """The mean over requests in every draw: [n, ...] to [draws, ...]."""
        flat = values.reshape(len(self._cluster), -1)
        sums = np.zeros((len(self._sizes), flat.shape[1]))
        np.add.at(sums, self._cluster, flat)
        means = np.empty((len(self._often), flat.shape[1]))
        for start in range(0, len(means), self._together):
            some = slice(start, start + self._together)
            often = self._often[some].astype(np.float64)
            means[some] = (often @ sums) / (often @ self._sizes)[:, None]
        return means.reshape(len(means), *values.shape[1:])

    def _drawn(self, seed: int, draws: int) -> Iterator[NDArray[np.uint16]]:
        """How often every user was drawn, some draws at a time."""
        users = len(self._sizes)
        rng = np.random.default_rng(seed)
        for start in range(0, draws, self._together):
            size = min(self._together, draws - start)
            drawn = rng.integers(users, size=(size, users)) + users * np.arange(size)[:, None]
            often = np.bincount(drawn.ravel(), minlength=size * users)
            yield often.reshape(size, users).astype(np.uint16)


def clustered(values: Sequence[float] | Floats, users: Sequence[str], seed: int = 0) -> Interval:
    """The mean over requests, with users drawn with replacement."""
    return estimate(np.asarray(values, np.float64), Resampling(users, seed)).interval


def estimate(parts: Floats, resampling: Resampling, value: Value | None = None) -> Estimate:
    """A mean, or a metric that follows from means, with its draws.

    Args:
        parts: what every request contributes: [n] for a mean, [n, p] for a metric of p parts,
            [n, runs, p] for its average over several runs.
        resampling: of the users of these requests.
        value: from means of parts [..., p] to the metric [...]; None for a mean.
    """
    of = value or _unchanged
    drawn = of(resampling.means(parts))
    return Estimate(
        float(of(parts.mean(axis=0)).mean()), drawn.reshape(len(drawn), -1).mean(axis=1)
    )


def difference(
    ours: Floats, theirs: Floats, users: Sequence[str], value: Value | None = None, seed: int = 0
) -> Estimate:
    """Ours less theirs, paired: the same requests in the same order, the same draws of users.

    The two may have different numbers of runs; each is averaged over its own.
    """
    if not len(ours) == len(theirs) == len(users):
        raise ValueError(f"{len(ours)} and {len(theirs)} requests cannot be paired")
    resampling = Resampling(users, seed)
    return estimate(ours, resampling, value) - estimate(theirs, resampling, value)


def _unchanged(means: Floats) -> Floats:
    return means
