"""How well scores tell two kinds apart, and how far probabilities are from what happens.

In: scores or probabilities, and what was true. Out: AUROC and expected calibration error (ECE);
None where they are not defined, because there is nothing or only one kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from enough.teacher.utility import Values

BINS = 10


def auroc(scores: Values, is_true: NDArray[np.bool_]) -> float | None:
    """The chance that a true case has a higher score than a false one; a tie counts half."""
    positive = int(is_true.sum())
    negative = len(is_true) - positive
    if not positive or not negative:
        return None
    # Ranks from 1, equal scores sharing the mean of theirs: the Mann-Whitney statistic.
    _, which, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[which]
    above = float(rank[is_true].sum()) - positive * (positive + 1) / 2
    return above / (positive * negative)


def mean_auroc(
    scores: Values, is_true: NDArray[np.bool_], groups: Sequence[str]
) -> tuple[float | None, int]:
    """Mean over groups that have both kinds, and how many these are."""
    names = np.array(groups, dtype=object)
    found = [auroc(scores[names == name], is_true[names == name]) for name in sorted(set(groups))]
    defined = [value for value in found if value is not None]
    return (float(np.mean(defined)) if defined else None), len(defined)


def calibration_error(
    probabilities: Values, is_true: NDArray[np.bool_], bins: int = BINS
) -> float | None:
    """Mean distance of probability and share of true cases, over bins of equal width."""
    if not len(probabilities):
        return None
    which = np.minimum((probabilities * bins).astype(np.int64), bins - 1)  # 1 is in the last bin
    surplus = np.bincount(which, weights=probabilities - is_true, minlength=bins)
    return float(np.abs(surplus).sum() / len(probabilities))


def sigmoid(values: Values) -> Values:
    """1 / (1 + exp(−x)), without overflow."""
    return 0.5 * (1 + np.tanh(values / 2))
