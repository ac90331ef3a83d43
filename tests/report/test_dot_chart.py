from __future__ import annotations

import pytest

from enough.diagnostics.sections import Dot, DotChart
from enough.report.dot_chart import dot_chart
from tests.report.drawings import along, having, hints, numbers, parsed, said

DOTS = (Dot("up", 0.5, 0.25, 1.0), Dot("open", 0.25, -0.25, 0.5), Dot("bare", -0.5))


def test_dots_and_whiskers_lie_where_they_should() -> None:
    root = parsed(dot_chart(DotChart("Change", "x", DOTS, "signed")))
    grid = [numbers(line, "x1")[0] for line in having(root, "grid")]
    zero = numbers(having(root, "reference")[0], "x1")[0]
    # Ticks run from −0.5 to 1.
    assert zero == pytest.approx(grid[0] + (grid[-1] - grid[0]) / 3, abs=0.02)
    unit = grid[-1] - zero
    centres = [along(mark)[0] + 5 for mark in having(root, "mark")]
    assert centres == pytest.approx([zero + v * unit for v in (0.5, 0.25, -0.5)], abs=0.02)
    low, _, high, *_ = along(having(root, "whisker")[0])
    assert (low, high) == pytest.approx((zero + 0.25 * unit, zero + unit), abs=0.02)


def test_a_dot_is_hollow_where_its_interval_holds_the_reference() -> None:
    root = parsed(dot_chart(DotChart("Change", "x", DOTS)))
    assert ["hollow" in (m.get("class") or "") for m in having(root, "mark")] == [
        False,
        True,
        False,
    ]
    assert {"interval excludes 0", "interval includes 0"} <= set(said(root))
    moved = parsed(dot_chart(DotChart("Change", "x", DOTS, reference=0.75)))
    hollow = ["hollow" in (m.get("class") or "") for m in having(moved, "mark")]
    assert hollow == [True, False, False]


def test_values_are_written_and_told() -> None:
    root = parsed(dot_chart(DotChart("Change", "x", DOTS, "signed")))
    assert said(root, "value") == ["+0.500", "+0.250", "−0.500"]
    assert hints(root)[0] == "up: +0.500 [+0.250, +1.000]"
