"""Metrics, leads and quantiles against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from enough.diagnostics.cost.quantiles import _quantiles, clustered_quantile
from enough.diagnostics.task_metrics import lead, metric_estimate, points
from enough.evaluation.intervals import Interval
from enough.tasks import LAMP_TASKS
from tests.diagnostics.tried_rows import tried

RATINGS = LAMP_TASKS["LaMP-3"]


def test_a_metric_in_points() -> None:
    rows = [tried(i, answer, "3", "LaMP-3") for i, answer in enumerate(("3", "4", "5", "3"))]
    found = metric_estimate(rows, RATINGS, "mae")
    assert found.observed == pytest.approx(0.75)
    assert points(found).mean == pytest.approx(75)


def test_fewer_errors_are_a_positive_lead_and_order_does_not_matter() -> None:
    ours = [tried(i, "3", "3", "LaMP-3") for i in range(4)]
    theirs = [tried(i, "4", "3", "LaMP-3") for i in (2, 0, 3, 1)]
    assert lead(ours, theirs, RATINGS, "mae") == Interval(100.0, 100.0, 100.0)
    assert lead(theirs, ours, RATINGS, "mae").mean == -100
    assert f"{lead(ours, ours, RATINGS, 'mae').mean:+.1f}" == "+0.0"


def test_requests_must_be_the_same() -> None:
    with pytest.raises(ValueError, match="same requests"):
        lead([tried(1, "3", "3", "LaMP-3")], [tried(2, "3", "3", "LaMP-3")], RATINGS, "mae")


def test_a_quantile_draws_users_not_requests() -> None:
    assert clustered_quantile([1, 2, 3, 4, 10], list("abcde"), 0.5).mean == 3
    # All of one user's requests come together: nothing varies.
    assert clustered_quantile([1, 2, 30], ["a", "a", "a"], 0.5) == Interval(2, 2, 2)
    # Two users: the draws are aa, ab and bb, of which the ends take a quarter each.
    found = clustered_quantile([1, 1, 9, 9], ["a", "a", "b", "b"], 0.5)
    assert (found.mean, found.low, found.high) == (5, 1, 9)


def test_draws_have_the_quantiles_of_what_was_drawn() -> None:
    values, often = np.array([1.0, 2.0, 5.0, 9.0]), np.array([[2, 0, 1, 1], [0, 3, 0, 1]])
    drawn = ([1, 1, 5, 9], [2, 2, 2, 9])
    for share in (0.0, 0.5, 0.95, 1.0):
        expected = [np.quantile(one, share) for one in drawn]
        assert _quantiles(values, often, share) == pytest.approx(expected)


def test_no_value_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="0 values"):
        clustered_quantile([], [], 0.5)
