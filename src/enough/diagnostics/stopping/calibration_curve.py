"""Reliability by bins, Brier score, average precision, and intervals of what is no mean.

In: probabilities, what was true, and the user behind each. Out: numbers; None where one is not
defined. AUROC and the calibration error are those of `controller.calibration_measures`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.evaluation.intervals import Interval

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Index = NDArray[np.int64]
Statistic = Callable[[Index], float | None]
"""From places of cases, some of them several times, to a number."""

_DRAWS = 1000
_Z = 1.959964  # 95% of a normal distribution lie within


@dataclass(frozen=True, slots=True)
class Bin:
    """Probabilities from `low` up to, but not including, `high`; the last bin has 1 in it.

    Attributes:
        cases: how many there are.
        users: of how many users.
        probability: mean of the predicted ones; None in an empty bin.
        share: of true cases, with Wilson's interval in which a user counts once.
    """

    low: float
    high: float
    cases: int
    users: int
    probability: float | None
    share: Interval | None


def reliability(
    probabilities: Floats, is_true: Bools, users: Sequence[str], bins: int
) -> tuple[Bin, ...]:
    """Bins of equal width, empty ones included; the same bins as the calibration error's."""
    which = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    names = np.array(users, dtype=object)
    found = []
    for i in range(bins):
        inside = which == i
        cases, people = int(inside.sum()), len(set(names[inside]))
        found.append(
            Bin(
                low=i / bins,
                high=(i + 1) / bins,
                cases=cases,
                users=people,
                probability=float(probabilities[inside].mean()) if cases else None,
                share=wilson(float(is_true[inside].mean()), people) if cases else None,
            )
        )
    return tuple(found)


def wilson(share: float, count: int) -> Interval:
    """Wilson's 95% interval of a share of `count` independent cases.

    It keeps its width where all or none are true, which a resampled one does not.
    """
    weight = _Z**2 / count
    middle = (share + weight / 2) / (1 + weight)
    reach = _Z / (1 + weight) * math.sqrt(share * (1 - share) / count + weight / (4 * count))
    # At shares of 0 and 1 one end is the share itself, up to rounding.
    return Interval(share, min(share, middle - reach), max(share, middle + reach))


def brier(probabilities: Floats, is_true: Bools) -> float | None:
    """Mean squared distance of probability and truth."""
    if not len(probabilities):
        return None
    return float(np.mean((probabilities - is_true) ** 2))


def average_precision(scores: Floats, is_true: Bools) -> float | None:
    """Area under precision over recall (AUPRC), as a sum of steps; equal scores are one step."""
    positive = int(is_true.sum())
    if not positive or positive == len(is_true):
        return None
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    hits = np.cumsum(is_true[order])
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)  # of each run of equals
    precision = hits[last] / (last + 1)
    gained = np.diff(hits[last], prepend=0) / positive
    return float(precision @ gained)


def within_groups(
    measure: Callable[[Floats, Bools], float | None],
    scores: Floats,
    is_true: Bools,
    groups: NDArray[np.int64],
) -> float | None:
    """Mean over the groups for which the measure is defined; groups are numbered, [n]."""
    found = [
        measure(scores[groups == group], is_true[groups == group]) for group in np.unique(groups)
    ]
    defined = [value for value in found if value is not None]
    return float(np.mean(defined)) if defined else None


def resampled(
    statistic: Statistic, users: Sequence[str], seed: int = 0, draws: int = _DRAWS
) -> Interval | None:
    """A statistic of all cases and the middle 95% of its values on redrawn users.

    Draws in which it is not defined are left out.
    """
    observed = statistic(np.arange(len(users)))
    if observed is None:
        return None
    _, cluster = np.unique(np.array(users, dtype=object).astype(str), return_inverse=True)
    members = [np.flatnonzero(cluster == user) for user in range(int(cluster.max()) + 1)]
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(draws):
        drawn = rng.integers(len(members), size=len(members))
        value = statistic(np.concatenate([members[user] for user in drawn]))
        if value is not None:
            values.append(value)
    low, high = np.quantile(values or [observed], (0.025, 0.975))
    return Interval(observed, float(low), float(high))


def expected_error(probabilities: Floats, bins: int, seed: int = 0, draws: int = 200) -> float:
    """The calibration error that these very probabilities have on average when they are right.

    It is not zero, because bins are small: what is measured should be compared with it.
    """
    which = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    is_in = which[:, None] == np.arange(bins)  # [n, bins]
    drawn = np.random.default_rng(seed).random((draws, len(probabilities))) < probabilities
    surplus = (probabilities - drawn) @ is_in.astype(np.float64)  # [draws, bins]
    return float(np.abs(surplus).sum(axis=1).mean() / len(probabilities))
