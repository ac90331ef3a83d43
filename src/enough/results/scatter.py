"""Methods as points over what they cost, fixed lengths as a line: one figure that stands alone.

In: a `Scatter`. Out: an SVG file with its own style for light and dark pages, system fonts, nothing
loaded. Our name stands beside its point where there is room. All others stand in a column at the
right, each joined to its point by a thin line, so that methods close together can be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from itertools import pairwise

from enough.report.axes import lying_axis, ticks_that_fit, upright_axis
from enough.report.formats import tick_texts
from enough.report.frame import SMALL, TEXT, TITLE, footing, nothing_to_draw
from enough.report.lettering import cut, widest, wrapped
from enough.report.marks import mark, whisker
from enough.report.point_notes import Box, place_notes
from enough.report.scales import Scale, nice_ticks, require_finite
from enough.report.svg import element, escaped, hint, lines_of_text, path, root
from enough.results.name_column import Label, name_column
from enough.results.scatter_values import Named, Scatter, series_of, style_of, told

WIDTH, PLOT = 410.0, 250.0
"""Two beside each other fit a page on GitHub; on a telephone they stand below each other."""
_MARGIN, _INSET = 12.0, 10.0
_NAMES = 0.30  # of the width, at most


def draw_scatter(chart: Scatter) -> str:
    """The whole file."""
    every = [*(one.point for one in chart.points), *chart.line]
    xs = require_finite(chart.title, [0.0, *(p.x for p in every)])
    ys = require_finite(chart.title, [v for p in every for v in (p.y, p.low, p.high)])
    head, top = _heading(chart)
    bottom = top + PLOT
    y_ticks = nice_ticks(min(ys, default=0.0), max(ys, default=1.0), 5)
    y_texts = tick_texts(y_ticks, chart.y_format)
    left = _MARGIN + widest(y_texts, TEXT) + 10
    names = [one.name for one in chart.points] + [chart.line_name] * bool(chart.line)
    right = WIDTH - _MARGIN - min(widest(names, TEXT), WIDTH * _NAMES) - 14
    most = 1.05 * max(xs) or 1.0
    x = Scale(min(xs), most, left + _INSET, right - _INSET)
    y = Scale(y_ticks[0], y_ticks[-1], bottom, top)
    axis, below = _tokens_axis(x, bottom, right - left)
    body = [head, upright_axis(y_ticks, y_texts, y, left, right), axis, _line(chart, x, y)]
    body.append(_names(chart, x, y, (left, top, right, bottom)))
    body += [_point(chart, one, x, y) for one in sorted(chart.points, key=lambda o: o.is_ours)]
    if not every:
        body.append(nothing_to_draw((left + right) / 2, (top + bottom) / 2))
    foot, end = footing(chart.x, below, left, right, WIDTH)
    summary = "; ".join(told(chart, one.name, one.point) for one in chart.points)
    drawing = root(
        chart.title,
        f"{chart.y} over {chart.x}. {summary}",
        _background(end + _MARGIN) + "".join(body) + foot,
        width=WIDTH,
        height=end + _MARGIN,
        class_="figure",
    )
    start = drawing.index(">") + 1
    return f"{drawing[:start]}{element('style', _style())}{drawing[start:]}\n"


def _style() -> str:
    text = resources.files("enough.results").joinpath("figure.css").read_text(encoding="utf-8")
    return " ".join(text.split())


def _background(height: float) -> str:
    return element("rect", width=WIDTH, height=height, rx=8.0, class_="page")


def _heading(chart: Scatter) -> tuple[str, float]:
    lines = wrapped(chart.title, WIDTH - 2 * _MARGIN, TITLE, 2)
    title = lines_of_text(lines, _MARGIN, _MARGIN + TITLE, size=TITLE, class_="chart-title")
    base = _MARGIN + TITLE * 1.25 * len(lines) + TEXT + 4
    axis = lines_of_text([chart.y], _MARGIN, base, size=TEXT, class_="axis-name")
    return title + axis, base + 14


def _tokens_axis(x: Scale, bottom: float, length: float) -> tuple[str, float]:
    """Round values up to the end of the plot, which itself is no round value."""
    ticks, texts = ticks_that_fit(x.low, x.high, "number", length, 5)
    inside = [(x(tick), text) for tick, text in zip(ticks, texts, strict=True) if tick <= x.high]
    return lying_axis([p for p, _ in inside], [text for _, text in inside], bottom, WIDTH)


def _line(chart: Scatter, x: Scale, y: Scale) -> str:
    """Fixed lengths: a band where all have an interval, the line, small marks."""
    points = chart.line
    if not points:
        return ""
    parts = []
    bounds = [(p.x, p.low, p.high) for p in points if p.low is not None and p.high is not None]
    if len(bounds) == len(points) > 1:
        edge = [c for px, _, high in bounds for c in (x(px), y(high))]
        edge += [c for px, low, _ in reversed(bounds) for c in (x(px), y(low))]
        parts.append(element("path", d=path("M", *edge, "Z"), class_="band fixed"))
    along = path("M", *(c for p in points for c in (x(p.x), y(p.y))))
    parts.append(element("path", d=along, class_="line fixed"))
    for p in points:
        note = hint(told(chart, f"fixed {p.note}", p))
        parts.append(element("circle", note, cx=x(p.x), cy=y(p.y), r=3.2, class_="dot fixed"))
    return element("g", *parts)


def _point(chart: Scatter, one: Named, x: Scale, y: Scale) -> str:
    p, series = one.point, series_of(one)
    bar = ""
    if p.low is not None and p.high is not None and p.low != p.high:
        bar = whisker(series, (x(p.x), y(p.low)), (x(p.x), y(p.high)))
    size = 6.0 if one.is_ours else 4.4
    shape = mark(series, x(p.x), y(p.y), size, told=told(chart, one.name, p))
    return element("g", bar, shape, class_="ours" if one.is_ours else "other")


def _names(chart: Scatter, x: Scale, y: Scale, plot: Box) -> str:
    """The column of names, and beside their points ours and the fixed lengths."""
    others = [one for one in chart.points if not one.is_ours]
    ours = [one for one in chart.points if one.is_ours]
    column, strokes = _column(chart, others, x, y, plot)
    strokes += _strokes(chart, x, y)
    noted = [(x(one.point.x), y(one.point.y), one.name) for one in ours]
    noted += [(x(p.x), y(p.y), p.note) for p in chart.line]
    noted += [(x(one.point.x), y(one.point.y), "") for one in others]
    placed = place_notes(noted, strokes, plot)
    if len(ours) > sum(text == one.name for _, _, text in placed for one in ours):
        column, _ = _column(chart, chart.points, x, y, plot)
    named = {one.name for one in ours}
    texts = [
        element(
            "text",
            escaped(text),
            x=start,
            y=base,
            font_size=SMALL,
            class_="name ours" if text in named else "length",
        )
        for start, base, text in placed
    ]
    return column + element("g", *texts)


def _column(
    chart: Scatter, points: Sequence[Named], x: Scale, y: Scale, plot: Box
) -> tuple[str, list[Box]]:
    labels = [
        Label(cut(one.name, WIDTH * _NAMES, TEXT), x(one.point.x), y(one.point.y), style_of(one))
        for one in points
    ]
    if chart.line:
        last = chart.line[-1]
        labels.append(Label(chart.line_name, x(last.x), y(last.y), "fixed"))
    return name_column(labels, plot)


def _strokes(chart: Scatter, x: Scale, y: Scale) -> list[Box]:
    """Lines that no note may cross: whiskers, and the line of fixed lengths."""
    bars = [
        (x(p.x), y(p.low), x(p.x), y(p.high))
        for p in (one.point for one in chart.points)
        if p.low is not None and p.high is not None
    ]
    return bars + [(x(a.x), y(a.y), x(b.x), y(b.y)) for a, b in pairwise(chart.line)]
