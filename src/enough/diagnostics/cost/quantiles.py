"""A quantile with an interval that knows that requests of one user are alike.

In: one value per request and the user who asked. Out: the quantile as observed, and where 95% of
those lie that come of drawing users with replacement.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from enough.evaluation.intervals import Interval

_DRAWS = 1000


def clustered_quantile(
    values: Sequence[float], users: Sequence[str], share: float, seed: int = 0
) -> Interval:
    """Of at least one value; share 0.5 is the median."""
    if not values or len(values) != len(users):
        raise ValueError(f"{len(values)} values of {len(users)} users")
    order = np.argsort(values, kind="stable")
    numbers = np.asarray(values, np.float64)[order]
    _, user = np.unique(np.array(users, dtype=object).astype(str)[order], return_inverse=True)
    count = int(user.max()) + 1
    drawn = np.random.default_rng(seed).integers(count, size=(_DRAWS, count))
    often = np.array([np.bincount(one, minlength=count) for one in drawn])  # [draws, users]
    found = _quantiles(numbers, often[:, user], share)
    low, high = np.quantile(found, (0.025, 0.975))
    return Interval(float(np.quantile(numbers, share)), float(low), float(high))


def _quantiles(
    numbers: NDArray[np.float64], often: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """Of every draw; numbers [n] are sorted, and each was drawn so often, [draws, n]."""
    up_to = often.cumsum(axis=1)
    rank = share * (up_to[:, -1] - 1)
    below, above = np.floor(rank), np.ceil(rank)
    ends = [numbers[(up_to > end[:, None]).argmax(axis=1)] for end in (below, above)]
    between: NDArray[np.float64] = ends[0] + (rank - below) * (ends[1] - ends[0])
    return between
