"""Paired intervals over users: hand-made cases, and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from enough.evaluation.intervals import Estimate, Floats, Resampling, difference, estimate
from enough.evaluation.metrics import metric_value
from enough.evaluation.significance import bootstrap_p

USERS, PER_USER = 200, 4


def clustered_noise(rng: np.random.Generator, share: float = 0.7) -> Floats:
    """Noise of variance 1 whose larger part is the user's, [USERS · PER_USER]."""
    of_user = np.repeat(rng.normal(size=USERS), PER_USER)
    own, user = math.sqrt(1 - share), math.sqrt(share)
    return user * of_user + own * rng.normal(size=USERS * PER_USER)


rmse = metric_value("rmse")


def test_a_difference_is_paired() -> None:
    rng = np.random.default_rng(1)
    theirs = rng.normal(size=50)
    users = [f"u{i // 2}" for i in range(50)]
    found = difference(theirs + 0.25, theirs, users)
    interval = found.interval
    assert (interval.mean, interval.low, interval.high) == pytest.approx((0.25, 0.25, 0.25))
    with pytest.raises(ValueError, match="50 and 49 requests cannot be paired"):
        difference(theirs, theirs[1:], users)


def test_draws_are_those_of_whole_users() -> None:
    # Two users: drawn are both of one, both of the other, or each.
    values = np.array([1.0, 3.0, 8.0])
    found = estimate(values, Resampling(["a", "a", "b"]))
    assert found.observed == 4.0
    assert set(found.draws.tolist()) == {2.0, 4.0, 8.0}
    assert np.mean(found.draws == 4.0) == pytest.approx(0.5, abs=0.05)


def test_a_metric_is_computed_anew_in_every_draw_and_averaged_over_runs() -> None:
    errors = np.array([[[1.0], [9.0]], [[4.0], [0.0]]])  # [requests, runs, parts]
    found = estimate(errors, Resampling(["a", "b"]), rmse)
    assert found.observed == pytest.approx((np.sqrt(2.5) + np.sqrt(4.5)) / 2)
    expected = {(1 + 3) / 2, (2 + 0) / 2, (np.sqrt(2.5) + np.sqrt(4.5)) / 2}
    assert {round(d, 9) for d in found.draws.tolist()} == {round(e, 9) for e in expected}


def test_other_draws_have_about_the_same_interval() -> None:
    values = clustered_noise(np.random.default_rng(2))
    users = [str(i // PER_USER) for i in range(len(values))]
    first, again, other = (estimate(values, Resampling(users, s)).interval for s in (0, 0, 1))
    assert first == again != other
    assert other.low == pytest.approx(first.low, abs=0.02)


@pytest.mark.parametrize("metric", ["mean", "rmse"])
def test_95_percent_intervals_cover_95_percent_and_5_percent_tests_err_in_5(metric: str) -> None:
    """Two methods of equal quality on the same requests, users alike in themselves."""
    rng = np.random.default_rng(4)
    users = [str(i // PER_USER) for i in range(USERS * PER_USER)]
    by_user = Resampling(users, seed=5, draws=1000)
    by_request = Resampling([str(i) for i in range(len(users))], seed=5, draws=200)
    simulations = 1200
    covered, alarms, covered_by_request = 0, 0, 0
    for _ in range(simulations):
        common = clustered_noise(rng)
        ours, theirs = (common + 0.5 * clustered_noise(rng) for _ in range(2))
        found = _difference(ours, theirs, by_user, metric)
        covered += found.interval.low <= 0 <= found.interval.high
        alarms += bootstrap_p(found.draws, USERS) < 0.05
        wrong = _difference(ours, theirs, by_request, metric).interval
        covered_by_request += wrong.low <= 0 <= wrong.high
    assert 0.93 <= covered / simulations <= 0.97
    assert 0.03 <= alarms / simulations <= 0.07
    assert covered_by_request / simulations < 0.9, "requests of one user are not independent"


def _difference(ours: Floats, theirs: Floats, resampling: Resampling, metric: str) -> Estimate:
    if metric == "mean":
        return estimate(ours, resampling) - estimate(theirs, resampling)
    squares = (ours[:, None] ** 2, theirs[:, None] ** 2)
    return estimate(squares[0], resampling, rmse) - estimate(squares[1], resampling, rmse)
