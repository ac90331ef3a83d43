"""Means with intervals that know that requests of one user are alike.

In: one value per request and the user who asked. Out: the mean and a percentile interval from
resampling users, not requests (the paper's user-clustered bootstrap).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and where 95% of its resampled values lie."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def clustered(
    values: Sequence[float] | NDArray[np.float64], users: Sequence[str], seed: int = 0
) -> Interval:
    """The mean over requests, with users drawn with replacement."""
    if not len(values):
        raise ValueError("no values")
    _, cluster = np.unique(np.array(users, dtype=object).astype(str), return_inverse=True)
    sums = np.bincount(cluster, weights=np.asarray(values, np.float64))  # [users]
    sizes = np.bincount(cluster)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(_DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(np.mean(values)), float(low), float(high))
