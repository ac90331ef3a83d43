from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.report.scales import Scale, nice_ticks, require_finite, require_grid


def test_a_place_computed_by_hand() -> None:
    upright = Scale(90, 110, 220, 20)
    assert upright(90) == 220
    assert upright(95) == 170
    assert upright(110) == 20


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 10, (0, 2, 4, 6, 8, 10)),
        (93.1, 100.3, (92, 94, 96, 98, 100, 102)),
        (0.0, 1.0, (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (-0.05, 0.011, (-0.06, -0.04, -0.02, 0, 0.02)),
        (0.1, 0.3, (0.1, 0.15, 0.2, 0.25, 0.3)),
        (0, 897, (0, 200, 400, 600, 800, 1000)),
    ],
)
def test_ticks(low: float, high: float, ticks: tuple[float, ...]) -> None:
    assert nice_ticks(low, high) == pytest.approx(ticks, abs=1e-12)


def test_ticks_of_equal_values_begin_at_zero() -> None:
    assert nice_ticks(7, 7) == (0, 2, 4, 6, 8)
    assert nice_ticks(-3, -3) == (-3, -2, -1, 0)
    assert nice_ticks(0, 0) == pytest.approx((0, 0.2, 0.4, 0.6, 0.8, 1.0))


@given(
    st.floats(-1e12, 1e12, allow_subnormal=False).map(lambda v: round(v, 9)),
    st.floats(1e-6, 1e12),
    st.integers(1, 8),
)
def test_ticks_cover_the_data_in_few_equal_steps(low: float, span: float, most: int) -> None:
    high = low + span
    ticks = nice_ticks(low, high, most)
    steps = [b - a for a, b in pairwise(ticks)]
    slack = 1e-5 * steps[0]
    assert ticks[0] <= low + slack
    assert ticks[-1] >= high - slack
    assert min(steps) == pytest.approx(max(steps), rel=1e-3)
    # Rounding both ends outward adds at most one step at each.
    assert len(ticks) - 1 <= most + 2 or high - low <= 1e-9 * max(abs(low), abs(high))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e301])
def test_what_is_no_number_is_refused_by_the_chart_s_title(value: float) -> None:
    with pytest.raises(ValueError, match=r"chart 'Quality': .* cannot be drawn"):
        require_finite("Quality", [1.0, None, value])


def test_missing_values_are_left_out() -> None:
    assert require_finite("Quality", [1.0, None, 2]) == [1.0, 2.0]


def test_values_must_be_a_grid() -> None:
    require_grid("Gap", [(1.0, None), (2.0, 3.0)], 2, 2)
    with pytest.raises(ValueError, match=r"chart 'Gap': 2 × 2 values are needed, not \[2, 1\]"):
        require_grid("Gap", [(1.0, None), (2.0,)], 2, 2)
