"""Changes from a reference: who is paired with whom, and what may be claimed."""

from __future__ import annotations

import pytest

from enough.diagnostics.variants.paired_changes import (
    MEASURES,
    Judged,
    change,
    metric_change,
    quality_change,
)
from enough.evaluation.intervals import Interval
from enough.tasks import LAMP_TASKS
from tests.diagnostics.hand_made import TASK, tried


def test_requests_are_paired_by_name_not_by_place() -> None:
    ours = [Judged(tried(1, net=3.0)), Judged(tried(2, net=5.0))]
    reference = [Judged(tried(2, net=4.0)), Judged(tried(1, net=2.0))]
    # 3 - 2 and 5 - 4: a change of 1 for everybody, so the interval has no width.
    assert change(ours, reference, MEASURES["J"]) == Interval(1.0, 1.0, 1.0)


def test_only_requests_with_both_values_count() -> None:
    ours = [Judged(tried(1), regret=0.5), Judged(tried(2)), Judged(tried(3), regret=9.0)]
    reference = [Judged(tried(1), regret=0.25), Judged(tried(2), regret=7.0), Judged(tried(3))]
    assert change(ours, reference, MEASURES["Regret"]) == Interval(0.25, 0.25, 0.25)
    assert change(ours[1:2], reference, MEASURES["Regret"]) is None


def test_measures_by_hand() -> None:
    one = Judged(tried(1, records=(), tokens=7, score=0.1, empty_score=0.2, net=-1.0), 0.5)
    found = {name: of(one) for name, of in MEASURES.items()}
    assert found == {"J": -1.0, "Tokens": 7, "Harm": 1.0, "Root STOP": 1.0, "Regret": 0.5}


def test_an_error_that_falls_is_a_negative_change() -> None:
    rating = LAMP_TASKS["LaMP-3"]
    ours = [Judged(tried(n, task="LaMP-3", answer="4", reference="5")) for n in range(2)]
    reference = [Judged(tried(n, task="LaMP-3", answer="2", reference="5")) for n in range(2)]
    assert metric_change(ours, reference, rating) == Interval(-2.0, -2.0, -2.0)  # MAE 1, was 3
    assert metric_change(ours, reference, LAMP_TASKS["LaMP-4"]) is None


def test_quality_is_in_points_of_the_reference() -> None:
    half = [Judged(tried(n, answer="one")) for n in range(2)]  # ROUGE F = 2/3 for both metrics
    whole = [Judged(tried(n)) for n in range(2)]
    found = quality_change(half, whole, {TASK: LAMP_TASKS[TASK]})
    assert found is not None
    assert found.mean == pytest.approx(-100 / 3)
    assert quality_change(whole, whole, {TASK: LAMP_TASKS[TASK]}) == Interval(0, 0, 0)
