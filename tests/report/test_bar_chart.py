from __future__ import annotations

import pytest

from enough.diagnostics.sections import BarChart
from enough.report.bar_chart import Bar, bar_chart, bars_of
from enough.report.frame import NARROW
from tests.report.drawings import having, hints, numbers, parsed, said


def test_stacked_parts_add_up_and_signs_grow_apart() -> None:
    values = ((1.0, 2.0), (-1.5, None), (0.5, 0.5), (-0.5, -1.0))
    chart = BarChart("Parts", "y", ("a", "b"), ("p", "q", "r", "s"), values, is_stacked=True)
    assert bars_of(chart) == [
        Bar(0, 0, 0.0, 1.0),
        Bar(1, 0, 0.0, -1.5),
        Bar(2, 0, 1.0, 1.5),
        Bar(3, 0, -1.5, -2.0),
        Bar(0, 1, 0.0, 2.0),
        Bar(2, 1, 2.0, 2.5),
        Bar(3, 1, 0.0, -1.0),
    ]


def test_heights_of_a_full_stack_are_the_whole_plot() -> None:
    chart = BarChart("All", "y", ("a",), ("p", "q"), ((0.25,), (0.75,)), "share", True)
    root = parsed(bar_chart(chart))
    lower, upper = (numbers(bar, "y", "height") for bar in having(root, "bar"))
    assert (lower[1], upper[1]) == (55, 165)
    assert upper[0] + upper[1] == lower[0]
    assert upper[0] == numbers(having(root, "grid")[-1], "y1")[0]


def test_bars_stand_beside_each_other_and_none_leaves_a_gap() -> None:
    chart = BarChart("Two", "y", ("a", "b"), ("p", "q"), ((10.0, -5.0), (5.0, None)), "count")
    root = parsed(bar_chart(chart))
    boxes = [numbers(bar, "x", "y", "width", "height") for bar in having(root, "bar")]
    (x1, y1, w1, h1), (x2, y2, _, h2), (_, y3, _, h3) = boxes
    zero = y1 + h1
    assert (y2 + h2, y3) == pytest.approx((zero, zero), abs=0.02)  # the last hangs from 0
    assert (h2, h3) == pytest.approx((h1 / 2, h1 / 2), abs=0.02)
    assert x2 == pytest.approx(x1 + w1 + 2, abs=0.02)
    assert hints(root) == ["a, p: 10", "a, q: 5", "b, p: −5"]


def test_fillings_differ_by_strokes() -> None:
    names = tuple("pqrs")
    chart = BarChart("Four", "y", ("a",), names, tuple((1.0,) for _ in names))
    root = parsed(bar_chart(chart))
    fills = [over.get("fill") for over in having(root, "hatched")]
    assert len(set(fills)) == len(fills) == 3
    defined = {f"url(#{p.get('id')})" for p in root.iter("{http://www.w3.org/2000/svg}pattern")}
    assert defined == set(fills)


def test_long_names_turn_and_are_still_told_apart() -> None:
    groups = tuple(f"a very long name of a group, number {i}" for i in range(8))
    chart = BarChart("Long", "y", groups, ("s",), (tuple(map(float, range(8))),))
    root = parsed(bar_chart(chart, NARROW))
    names = said(root, "turned")
    assert len(set(names)) == 8
    assert set(groups) <= set(hints(root))


@pytest.mark.parametrize("values", [((1.0,),), ((1.0, 2.0), (1.0, 2.0))])
def test_values_of_another_shape_are_refused(values: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(ValueError, match="chart 'Odd'"):
        bar_chart(BarChart("Odd", "y", ("a", "b"), ("s",), values))
