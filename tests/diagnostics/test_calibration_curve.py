"""Measures of calibration by hand and against scikit-learn, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from enough.controller.calibration_measures import auroc, calibration_error
from enough.diagnostics.stopping.calibration_curve import (
    Index,
    average_precision,
    brier,
    expected_error,
    reliability,
    resampled,
    wilson,
    within_groups,
)
from enough.evaluation.intervals import clustered

P = np.array([0.1, 0.3, 0.3, 0.8, 1.0])
TRUE = np.array([False, True, False, True, True])


def test_measures_by_hand() -> None:
    assert brier(P, TRUE) == pytest.approx((0.01 + 0.49 + 0.09 + 0.04 + 0) / 5)
    # Bins of .2: {.1}, {.3, .3}, {}, {}, {.8, 1}: |.1| + |.6 − 1| + |1.8 − 2|, over five.
    assert calibration_error(P, TRUE, bins=5) == pytest.approx((0.1 + 0.4 + 0.2) / 5)
    # Precision is 1 for the first two hits; the third shares its place with a miss.
    assert average_precision(P, TRUE) == pytest.approx((1 + 1 + 3 / 4) / 3)
    assert auroc(P, TRUE) == pytest.approx((2 + 2 + 1.5) / 6)
    assert brier(P[:0], TRUE[:0]) is None
    assert average_precision(P, np.zeros(5, np.bool_)) is None
    assert average_precision(P, np.ones(5, np.bool_)) is None


@pytest.mark.parametrize("digits", [1, 2, 9])
def test_measures_are_scikit_learns(digits: int) -> None:
    rng = np.random.default_rng(digits)
    for _ in range(20):
        p = np.round(rng.random(60), digits)
        y = rng.random(60) < p
        assert brier(p, y) == pytest.approx(brier_score_loss(y, p))
        assert average_precision(p, y) == pytest.approx(average_precision_score(y, p))
        assert auroc(p, y) == pytest.approx(roc_auc_score(y, p))


def test_bins_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(40) ** 3
    y = rng.random(40) < p
    users = [f"u{i % 7}" for i in range(40)]
    for bins in (3, 5, 20):
        found = [one for one in reliability(p, y, users, bins) if one.share is not None]
        shares, means = calibration_curve(y, p, n_bins=bins, strategy="uniform")
        assert [one.share.mean for one in found if one.share] == pytest.approx(shares)
        assert [one.probability for one in found] == pytest.approx(means)
        weights = [one.cases for one in found]
        ece = np.average(np.abs(shares - means), weights=weights)
        assert calibration_error(p, y, bins) == pytest.approx(ece)


def test_reliability_counts_cases_and_users() -> None:
    bins = reliability(P, TRUE, ["a", "a", "a", "b", "c"], 5)
    assert [(one.cases, one.users) for one in bins] == [(1, 1), (2, 1), (0, 0), (0, 0), (2, 2)]
    assert bins[2].share is None and bins[2].probability is None
    assert (bins[1].low, bins[1].high) == (0.2, 0.4)
    assert bins[1].share == wilson(0.5, 1)  # two states of one user tell as much as one
    assert bins[4].probability == pytest.approx(0.9)


def test_wilson_by_hand() -> None:
    # 8 of 10: the published 95% interval.
    found = wilson(0.8, 10)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    none = wilson(0.0, 10)
    assert none.low == 0 and none.high == pytest.approx(0.2775, abs=1e-4)
    assert wilson(1.0, 10).high == 1


def test_means_within_groups_leave_out_groups_of_one_kind() -> None:
    groups = np.array([0, 0, 1, 1, 1])
    # Group 0 ranks its hit above its miss; group 1 ties a miss below two hits.
    assert within_groups(auroc, P, TRUE, groups) == 1
    flipped = np.array([True, False, True, True, True])
    assert within_groups(auroc, P, flipped, groups) == 0
    assert within_groups(auroc, P, np.ones(5, np.bool_), groups) is None


def test_users_are_redrawn_whole() -> None:
    values = np.array([1.0, 1.0, 0.0, 4.0])
    users = ["a", "a", "b", "c"]

    def mean(at: Index) -> float:
        assert (at == 0).sum() == (at == 1).sum()  # both of a user, or neither
        return float(values[at].mean())

    found = resampled(mean, users)
    assert found is not None
    expected = clustered(values, users)
    assert found.mean == expected.mean == 1.5
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.05)


def test_draws_without_a_value_are_left_out() -> None:
    is_true = np.array([True, False, False, False])
    found = resampled(lambda at: auroc(np.arange(4.0)[at], is_true[at]), ["a", "b", "c", "d"])
    assert found is not None and (found.mean, found.low, found.high) == (0, 0, 0)
    assert resampled(lambda at: None, ["a", "b"]) is None


def test_exact_probabilities_have_an_error_that_falls_with_their_number() -> None:
    # One case of probability .5 is always .5 away; so is each of two in its own bin.
    assert expected_error(np.array([0.5]), 5) == 0.5
    assert expected_error(np.array([0.0, 1.0]), 5) == 0
    few, many = (expected_error(np.full(n, 0.3), 5) for n in (10, 1000))
    assert few == pytest.approx(np.sqrt(0.21 / 10) * np.sqrt(2 / np.pi), rel=0.15)
    assert many == pytest.approx(few / 10, rel=0.2)
