"""Rows about the first record, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from enough.encoder_tuning.measure import first_records, rank_correlation
from tests.encoder_tuning.test_lessons import lesson


def test_rows_by_hand() -> None:
    lessons = [lesson("A", "u", [0.1, 0.5, 0.0]), lesson("B", "v", [-0.2, -0.4])]
    liked = [np.array([0.2, 0.9, 0.1], np.float32), np.array([0.1, 0.3], np.float32)]
    first, second, everything = first_records(lessons, liked)
    assert (first.task, first.requests, second.task, everything.task) == ("A", 1, "B", "all")
    assert (first.gain, first.typical, first.best) == pytest.approx((0.5, 0.2, 0.5))
    assert (second.gain, second.typical, second.best) == pytest.approx((-0.4, -0.3, 0.0))
    assert (first.order, second.order) == pytest.approx((1, -1))
    assert everything.requests == 2
    assert everything.gain == pytest.approx(0.05)


def test_rank_correlations() -> None:
    rising = np.array([1, 2, 3, 4], np.float32)
    assert rank_correlation(rising, rising**3) == pytest.approx(1)
    assert rank_correlation(rising, np.array([2, 1, 4, 3], np.float32)) == pytest.approx(0.6)
    assert rank_correlation(rising[:1], rising[:1]) == 0
