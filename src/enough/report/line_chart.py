"""Lines, or clouds of points, over a common axis.

In: a `LineChart`. Out: SVG. Intervals are bands around lines and whiskers around lone points; a
point's note stands beside it where there is room, and always in its tooltip.
"""

from __future__ import annotations

from itertools import pairwise

from enough.diagnostics.sections import Line, LineChart, Point
from enough.report.axes import lying_axis, ticks_that_fit, upright_axis
from enough.report.formats import number_text, tick_texts
from enough.report.frame import (
    SMALL,
    TEXT,
    WIDE,
    Entry,
    Layout,
    footing,
    heading,
    mark_entry,
    nothing_to_draw,
)
from enough.report.lettering import widest
from enough.report.marks import dashes, mark, series_class, whisker
from enough.report.point_notes import Box, place_notes
from enough.report.scales import Scale, nice_ticks, require_finite
from enough.report.svg import element, escaped, hint, path, root

_INSET = 12.0  # between the frame and the first and last point
_RADIUS = 4.2


def line_chart(chart: LineChart, layout: Layout = WIDE) -> str:
    """Draw it."""
    points = [point for line in chart.lines for point in line.points]
    xs, ys = _extent(chart, points)
    head, top = heading(chart.title, _entries(chart), chart.y, layout)
    bottom = top + layout.plot_height
    y_ticks = nice_ticks(min(ys, default=0.0), max(ys, default=1.0), 5)
    y_texts = tick_texts(y_ticks, chart.y_format)
    left, right = widest(y_texts, TEXT) + 10, layout.width - 8
    named = _x_ticks(chart, xs, right - left - 2 * _INSET)
    low = min([*xs, named[0][0]])
    high = max([*xs, named[-1][0]])
    if low == high:  # one named place: in the middle
        low, high = low - 1.0, high + 1.0
    x = Scale(low, high, left + _INSET, right - _INSET)
    y = Scale(y_ticks[0], y_ticks[-1], bottom, top)
    special = None if chart.marked is None else x(chart.marked)
    body = [head, _set_apart(chart, special, top, bottom)]
    body.append(upright_axis(y_ticks, y_texts, y, left, right))
    places = [x(value) for value, _ in named]
    axis, below = lying_axis(places, [n for _, n in named], bottom, layout.width, special)
    body.append(axis)
    if chart.has_diagonal:
        body.append(_diagonal(x, y))
    body += [_line(chart, line, i, x, y) for i, line in enumerate(chart.lines)]
    body.append(_notes(chart, x, y, (left, top, layout.width, bottom)))
    if not points:
        body.append(nothing_to_draw((left + right) / 2, (top + bottom) / 2))
    foot, end = footing(chart.x, below, left, right, layout.width)
    names = ", ".join(line.name for line in chart.lines)
    told = f"{chart.y} over {chart.x}: {names}. The numbers are in the table below."
    return root(
        chart.title,
        told,
        "".join(body) + foot,
        width=layout.width,
        height=end + 8,
        class_=layout.name,
    )


def _extent(chart: LineChart, points: list[Point]) -> tuple[list[float], list[float]]:
    """All x and all y that must be inside the plot."""
    xs = [point.x for point in points] + [value for value, _ in chart.ticks]
    ys = [value for point in points for value in (point.y, point.low, point.high)]
    corners = [0.0, 1.0] if chart.has_diagonal else []
    return (
        require_finite(chart.title, [*xs, chart.marked, *corners]),
        require_finite(chart.title, [*ys, *corners]),
    )


def _x_ticks(chart: LineChart, xs: list[float], length: float) -> list[tuple[float, str]]:
    if chart.ticks:
        return sorted(chart.ticks)
    if xs and min(xs) == max(xs):
        return [(xs[0], tick_texts(xs[:1], "number")[0])]
    bounds = (min(xs, default=0.0), max(xs, default=1.0))
    return list(zip(*ticks_that_fit(*bounds, "number", length, 6), strict=True))


def _entries(chart: LineChart) -> list[Entry]:
    entries = []
    if len(chart.lines) > 1:
        for number, line in enumerate(chart.lines):
            label = line.name if line.points else f"{line.name} (no data)"
            entries.append(mark_entry(label, number, is_joined=chart.is_joined))
    if chart.has_diagonal:
        entries.append(
            Entry(
                "perfect agreement",
                lambda x, y: element("line", x1=x - 10, x2=x + 10, y1=y, y2=y, class_="diagonal"),
            )
        )
    return entries


def _line(chart: LineChart, line: Line, number: int, x: Scale, y: Scale) -> str:
    points = line.points
    bounds = [
        (p, p.low if p.low is not None else p.y, p.high if p.high is not None else p.y)
        for p in points
        if p.low is not None or p.high is not None
    ]
    parts = []
    if _is_banded(chart, line):
        edge = [(x(p.x), y(high)) for p, _, high in bounds]
        edge += [(x(p.x), y(low)) for p, low, _ in reversed(bounds)]
        band = path("M", *(c for place in edge for c in place), "Z")
        parts.append(element("path", d=band, class_=f"band {series_class(number)}"))
    else:
        parts += [whisker(number, (x(p.x), y(low)), (x(p.x), y(high))) for p, low, high in bounds]
    if chart.is_joined and len(points) > 1:
        along = path("M", *(c for p in points for c in (x(p.x), y(p.y))))
        parts.append(
            element(
                "path",
                d=along,
                class_=f"line {series_class(number)}",
                stroke_dasharray=dashes(number),
            )
        )
    parts += [
        mark(
            number,
            x(p.x),
            y(p.y),
            _RADIUS,
            told=_told(chart, line, p),
            extra="special" if p.x == chart.marked else "",
        )
        for p in points
    ]
    return element("g", *parts)


def _is_banded(chart: LineChart, line: Line) -> bool:
    """Whether intervals are a band; one needs points in order, all with an interval."""
    is_whole = all(p.low is not None or p.high is not None for p in line.points)
    rises = all(a.x < b.x for a, b in pairwise(line.points))
    return chart.is_joined and is_whole and rises and len(line.points) > 1


def _told(chart: LineChart, line: Line, point: Point) -> str:
    name = next((n for value, n in chart.ticks if value == point.x), None)
    text = f"{line.name}: {number_text(point.y, chart.y_format)}"
    if point.low is not None and point.high is not None:
        low, high = (number_text(v, chart.y_format) for v in (point.low, point.high))
        text += f" [{low}, {high}]"
    text += f" at {name or number_text(point.x, 'number')}"
    return f"{text} ({point.note})" if point.note else text


def _set_apart(chart: LineChart, special: float | None, top: float, bottom: float) -> str:
    if special is None:
        return ""
    told = hint(f"set apart: {chart.x} = {number_text(chart.marked or 0.0, 'number')}")
    box = {"x": special - 9, "y": top, "width": 18.0, "height": bottom - top}
    return element("rect", told, class_="set-apart", **box)


def _diagonal(x: Scale, y: Scale) -> str:
    return element("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), class_="diagonal")


def _notes(chart: LineChart, x: Scale, y: Scale, plot: Box) -> str:
    points = [p for line in chart.lines for p in line.points]
    strokes = [
        (x(p.x), y(p.y if p.low is None else p.low), x(p.x), y(p.y if p.high is None else p.high))
        for line in chart.lines
        for p in line.points
        if not _is_banded(chart, line)
    ]
    if chart.is_joined:
        pairs = (pair for line in chart.lines for pair in pairwise(line.points))
        strokes += [(x(a.x), y(a.y), x(b.x), y(b.y)) for a, b in pairs]
    if chart.has_diagonal:
        strokes.append((x(0), y(0), x(1), y(1)))
    placed = place_notes([(x(p.x), y(p.y), p.note) for p in points], strokes, plot)
    texts = [
        element("text", escaped(note), x=left, y=base, font_size=SMALL)
        for left, base, note in placed
    ]
    return element("g", *texts, class_="point-notes") if texts else ""
