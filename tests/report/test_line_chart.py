from __future__ import annotations

import pytest

from enough.diagnostics.sections import Line, LineChart, Point
from enough.report.frame import NARROW, WIDE
from enough.report.line_chart import line_chart
from tests.report.drawings import along, having, hints, numbers, parsed, said


def chart(*lines: Line, **changes: object) -> LineChart:
    return LineChart("Quality", "k", "Index", lines, **changes)  # type: ignore[arg-type]


def test_points_lie_where_they_should() -> None:
    line = Line("a", (Point(0, 0), Point(1, 5), Point(4, 10)))
    root = parsed(line_chart(chart(line)))
    grid = having(root, "grid")
    left, right, bottom = numbers(grid[0], "x1", "x2", "y1")
    top = numbers(grid[-1], "y1")[0]
    assert bottom - top == WIDE.plot_height == 220
    # The first and last point stand 12 pixels inside the frame.
    wide = right - left - 24
    path = along(having(root, "line")[0])
    expected = [left + 12, bottom, left + 12 + wide / 4, bottom - 110, right - 12, top]
    assert path == pytest.approx(expected, abs=0.02)


def test_a_band_runs_along_the_upper_and_back_along_the_lower_bounds() -> None:
    line = Line("a", (Point(0, 5, 4, 10), Point(1, 5, 0, 6)))
    root = parsed(line_chart(chart(line)))
    grid = having(root, "grid")
    bottom, top = numbers(grid[0], "y1")[0], numbers(grid[-1], "y1")[0]
    ys = along(having(root, "band")[0])[1::2]
    shares = [(bottom - y) / (bottom - top) for y in ys]
    assert shares == pytest.approx([1.0, 0.6, 0.0, 0.4], abs=1e-3)
    assert having(root, "whisker") == []


@pytest.mark.parametrize(
    ("points", "is_joined"),
    [
        ((Point(0, 1, 0, 2),), True),
        ((Point(0, 1, 0, 2), Point(1, 1)), True),
        ((Point(1, 1, 0, 2), Point(0, 1)), True),
        ((Point(0, 1, 0, 2), Point(1, 1)), False),
    ],
)
def test_whiskers_where_a_band_would_be_wrong(points: tuple[Point, ...], is_joined: bool) -> None:
    root = parsed(line_chart(chart(Line("a", points), is_joined=is_joined)))
    assert len(having(root, "whisker")) == 1
    assert having(root, "band") == []


def test_series_differ_by_colour_shape_and_dashes() -> None:
    lines = [Line(f"line {i}", (Point(0, 0), Point(1, 0))) for i in range(4)]
    root = parsed(line_chart(chart(*lines)))
    marks = having(root, "mark")[::2]
    assert len({mark.get("class") for mark in marks}) == 4
    assert len({"".join(c for c in mark.get("d", "") if c.isalpha()) for mark in marks}) >= 3
    assert len({line.get("stroke-dasharray") for line in having(root, "line")}) == 4
    assert {f"line {i}" for i in range(4)} <= set(said(root))


def test_tooltips_say_everything() -> None:
    line = Line("ours", (Point(3, 0.5, 0.4, 0.6, "λ = 1"),))
    told = hints(parsed(line_chart(chart(line, ticks=((3.0, "three"),), y_format="share"))))
    assert told == ["ours: 50.0% [40.0%, 60.0%] at three (λ = 1)"]


def test_the_marked_place_is_kept_among_crowded_names() -> None:
    ticks = tuple((i / 100, f"{i / 100:.2f}") for i in range(30))
    line = Line("a", tuple(Point(x, 1) for x, _ in ticks))
    for layout in (WIDE, NARROW):
        root = parsed(line_chart(chart(line, ticks=ticks, marked=0.17), layout))
        assert said(root, "special") == ["0.17"]
        assert len(having(root, "set-apart")) == 1
        names = [name for name in said(root, "tick") if name in dict.fromkeys(n for _, n in ticks)]
        assert {"0.00", "0.29"} <= set(names)
        assert len(names) < 12


def test_the_diagonal_spans_zero_to_one() -> None:
    line = Line("a", (Point(0.4, 0.5),))
    root = parsed(line_chart(chart(line, has_diagonal=True)))
    x1, y1, x2, y2 = numbers(having(root, "diagonal")[0], "x1", "y1", "x2", "y2")
    (mark_left, mark_y, *_) = along(having(root, "mark")[0])
    assert (mark_left + 4.2 - x1) / (x2 - x1) == pytest.approx(0.4, abs=1e-3)
    assert (mark_y - y1) / (y2 - y1) == pytest.approx(0.5, abs=1e-3)


def test_notes_stand_beside_points_or_not_at_all() -> None:
    few = Line("a", (Point(0, 0), Point(1, 1, note="n = 3"), Point(2, 1, note="n = 4")))
    shown = [t for t in said(parsed(line_chart(chart(few)))) if t.startswith("n =")]
    assert shown == ["n = 3", "n = 4"]
    dense = Line("a", tuple(Point(i / 500, 1, note=f"note {i}") for i in range(20)))
    shown = [t for t in said(parsed(line_chart(chart(dense)))) if t.startswith("note")]
    assert len(shown) < 10
