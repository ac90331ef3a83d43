from __future__ import annotations

import pytest

from enough.diagnostics.sections import HeatMap
from enough.report.frame import NARROW, WIDE
from enough.report.heat_map import heat_map, shade
from tests.report.drawings import having, hints, numbers, parsed, said


def test_zero_is_neutral_and_signs_have_their_own_hue() -> None:
    values = (0.0, 0.04, -0.02, 0.02)
    found = [shade(value, -0.02, 0.04, is_diverging=True) for value in values]
    # Equal distances from 0 are equally strong, whatever the range.
    assert [each.strength for each in found] == pytest.approx([0, 0.92, 0.46, 0.46])
    assert [each.hue for each in found[1:]] == ["above", "below", "above"]


def test_one_hue_runs_from_lowest_to_highest() -> None:
    strengths = [shade(v, 10, 30, is_diverging=False).strength for v in (10, 20, 30)]
    assert strengths == pytest.approx([0.06, 0.49, 0.92])
    assert shade(5, 5, 5, is_diverging=False).strength == pytest.approx(0.49)
    assert shade(0, 0, 0, is_diverging=True).strength == 0


def test_cells_are_drawn_row_by_row_with_their_values() -> None:
    chart = HeatMap("Gap", ("r", "s"), ("a", "b"), ((0.0, 0.02), (None, -0.01)), "signed", True)
    root = parsed(heat_map(chart))
    assert said(root, "cell-text") == ["0.000", "+0.020", "–", "−0.010"]
    heat = having(root, "heat")
    assert [numbers(cell, "fill-opacity")[0] for cell in heat] == [0, 0.92, 0.46]
    assert hints(root) == ["r, a: 0.000", "r, b: +0.020", "s, a: –", "s, b: −0.010"]
    boxes = [numbers(cell, "x", "y") for cell in having(root, "cell")]
    assert boxes[0][1] == boxes[1][1] < boxes[2][1] == boxes[3][1]
    assert boxes[0][0] == boxes[2][0] < boxes[1][0] == boxes[3][0]


def test_many_columns_keep_their_width_and_scroll() -> None:
    columns = tuple(f"c{i}" for i in range(20))
    chart = HeatMap("Wide", ("r",), columns, (tuple(i / 7 for i in range(20)),), "signed")
    for layout in (WIDE, NARROW):
        root = parsed(heat_map(chart, layout))
        assert "scrolls" in (root.get("class") or "")
        assert numbers(root, "width")[0] > 20 * 40
