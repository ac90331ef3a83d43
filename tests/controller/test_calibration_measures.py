"""AUROC and calibration error by hand."""

from __future__ import annotations

import numpy as np
import pytest

from enough.controller.calibration_measures import auroc, calibration_error, mean_auroc, sigmoid

YES, NO = True, False


def values(*numbers: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(numbers, np.float64)


@pytest.mark.parametrize(
    ("scores", "truth", "expected"),
    [
        ((1, 2, 3, 4), (NO, NO, YES, YES), 1.0),
        ((4, 3, 2, 1), (NO, NO, YES, YES), 0.0),
        ((1, 2, 3, 4), (NO, YES, NO, YES), 0.75),  # 3 of 4 pairs
        ((5, 5, 5), (NO, YES, NO), 0.5),  # ties count half
        ((1, 2, 2, 3), (NO, YES, NO, NO), 0.5),  # above one, level with one, below one
        ((-1e9, 0, 1e9), (NO, YES, NO), 0.5),
    ],
)
def test_auroc(scores: tuple[float, ...], truth: tuple[bool, ...], expected: float) -> None:
    assert auroc(values(*scores), np.array(truth)) == pytest.approx(expected)


def test_auroc_is_the_share_of_pairs() -> None:
    rng = np.random.default_rng(0)
    scores, truth = rng.integers(0, 12, 200).astype(np.float64), rng.random(200) < 0.3
    pairs = scores[truth][:, None] - scores[~truth][None]
    assert auroc(scores, truth) == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())


def test_auroc_needs_both_kinds() -> None:
    assert auroc(values(1, 2), np.array([YES, YES])) is None
    assert auroc(values(), np.zeros(0, np.bool_)) is None


def test_mean_auroc_is_over_groups_with_both_kinds() -> None:
    """Pooled, a group with high scores and many stops hides that nothing is told apart within."""
    scores, truth = values(1, 2, 3, 11, 12, 13, 7), np.array([NO, YES, NO, YES, NO, YES, YES])
    groups = ["a", "a", "a", "b", "b", "b", "c"]
    found, count = mean_auroc(scores, truth, groups)
    assert found == pytest.approx(0.5)
    assert count == 2
    pooled = auroc(scores, truth)
    assert pooled is not None
    assert pooled > 0.6
    assert mean_auroc(values(1), np.array([YES]), ["a"]) == (None, 0)


def test_calibration_error() -> None:
    """Bins [.2, .3): .25 twice, one true: |.5 − 1|/4; last bin: .95 and 1, both true: .05/4."""
    probabilities, truth = values(0.25, 0.25, 0.95, 1.0), np.array([YES, NO, YES, YES])
    assert calibration_error(probabilities, truth) == pytest.approx((0.5 + 0.05) / 4)
    assert calibration_error(probabilities, truth, bins=1) == pytest.approx((3 - 2.45) / 4)
    assert calibration_error(values(), np.zeros(0, np.bool_)) is None


def test_sigmoid_does_not_overflow() -> None:
    assert sigmoid(values(-1e9, 0.0, np.log(3), 1e9)) == pytest.approx([0.0, 0.5, 0.75, 1.0])
