"""A grid of values in colour, each written in its cell.

In: a `HeatMap`. Out: SVG. A cell is the page's colour with more or less of one hue over it, so that
0 (or the lowest value) is the page itself, in the light theme and in the dark one.
"""

from __future__ import annotations

from dataclasses import dataclass

from enough.diagnostics.sections import HeatMap
from enough.report.axes import draw_names, plan_names
from enough.report.formats import MISSING, number_text
from enough.report.frame import SMALL, TEXT, WIDE, Layout, heading, nothing_to_draw
from enough.report.lettering import widest, width_of, wrapped
from enough.report.scales import require_finite, require_grid
from enough.report.svg import element, escaped, hint, key_of, lines_of_text, root

_LEAST, _MOST = 0.06, 0.92
_LABELS, _CELL = 0.32, 34.0


@dataclass(frozen=True, slots=True)
class Shade:
    """A hue and how much of it, from 0 (the page's own colour) to 1."""

    hue: str
    strength: float


def shade(value: float, low: float, high: float, *, is_diverging: bool) -> Shade:
    """The colour of a value among values from `low` to `high`."""
    if is_diverging:
        largest = max(abs(low), abs(high))
        share = abs(value) / largest if largest else 0.0
        return Shade("below" if value < 0 else "above", share * _MOST)
    share = (value - low) / (high - low) if high > low else 0.5
    return Shade("above", _LEAST + share * (_MOST - _LEAST))


def heat_map(chart: HeatMap, layout: Layout = WIDE) -> str:
    """Draw it; with many columns it is wider than its place and scrolls there."""
    require_grid(chart.title, chart.values, len(chart.rows), len(chart.columns))
    numbers = require_finite(chart.title, (v for row in chart.values for v in row))
    written = [number_text(value, chart.format) for value in numbers]
    head, top = heading(chart.title, (), "", layout)
    labels = [wrapped(row, layout.width * _LABELS, TEXT, 3) for row in chart.rows]
    left = max((widest(lines, TEXT) for lines in labels), default=0.0) + 10
    count = max(1, len(chart.columns))
    least = widest(written, TEXT) + 8
    if least * count > layout.width - left:  # it scrolls anyway, so short names need not turn
        least = max(least, min(64.0, widest(chart.columns, TEXT) + 8))
    cell = max(least, (layout.width - left) / count)
    naming = plan_names(chart.columns, cell)
    left = max(left, naming.overhang - cell / 2)
    cell = max(least, (layout.width - left) / count)
    width = left + cell * count
    heights = [max(_CELL, len(lines) * TEXT * 1.25 + 8) for lines in labels] or [80.0]
    bounds = (min(numbers, default=0.0), max(numbers, default=0.0))
    body, y = [head], top
    for i, row in enumerate(chart.values):
        base = y + heights[i] / 2 + TEXT * 0.35 - (len(labels[i]) - 1) * TEXT * 0.625
        body.append(lines_of_text(labels[i], 0, base, size=TEXT, class_="row-name"))
        for j, value in enumerate(row):
            place = (left + j * cell, y, cell, heights[i])
            told = f"{chart.rows[i]}, {chart.columns[j]}"
            body.append(_cell(chart, value, bounds, place, told))
        y += heights[i]
    body.append(draw_names(naming, [left + cell * (j + 0.5) for j in range(len(chart.columns))], y))
    end = y + naming.height
    if not (chart.rows and chart.columns):
        body.append(nothing_to_draw(width / 2, top + heights[0] / 2 + 4))
        end = top + heights[0]
    elif numbers:
        key, end = _key(chart, bounds, left, end + 10, layout)
        body.append(key)
    told = f"{', '.join(chart.rows)} against {', '.join(chart.columns)}."
    return root(
        chart.title,
        f"{told} The numbers are in the table below.",
        "".join(body),
        width=max(width, layout.width),
        height=end + 8,
        class_=f"{layout.name} scrolls" if width > layout.width * 1.02 else layout.name,
    )


def _cell(
    chart: HeatMap,
    value: float | None,
    bounds: tuple[float, float],
    place: tuple[float, float, float, float],
    told: str,
) -> str:
    x, y, wide, high = place
    box = {"x": x + 1, "y": y + 1, "width": wide - 2, "height": high - 2, "rx": 3.0}
    text, strength = MISSING, 0.0
    if value is None:
        rect = element("rect", class_="cell empty-cell", **box)
    else:
        colour = shade(value, *bounds, is_diverging=chart.is_diverging)
        text, strength = number_text(value, chart.format), colour.strength
        rect = element("rect", class_="cell", **box) + element(
            "rect", class_=f"heat {colour.hue}", fill_opacity=strength, **box
        )
    written = element(
        "text",
        escaped(text),
        x=x + wide / 2,
        y=y + high / 2 + TEXT * 0.35,
        font_size=TEXT,
        text_anchor="middle",
        class_="cell-text strong" if strength > 0.68 else "cell-text",
    )
    return element("g", hint(f"{told}: {text}"), rect, written, class_="cell-mark")


def _key(
    chart: HeatMap, bounds: tuple[float, float], left: float, top: float, layout: Layout
) -> tuple[str, float]:
    """From which colour to which, with the values at the ends."""
    low, high = bounds
    if chart.is_diverging:
        high = max(abs(low), abs(high))
        low = -high
    if low == high:
        return "", top
    names = [number_text(value, chart.format) for value in (low, high)]
    wide, name = 90.0, f"g{key_of(chart, layout)}"
    x = left + width_of(names[0], SMALL) + 6
    stops: list[str] = []
    for share in (0.0, 0.5, 0.5, 1.0):
        # Beside the middle the hue changes, so it has a stop of either.
        value = low + (high - low) * (share + 1e-9 * (-1 if len(stops) == 1 else 1))
        colour = shade(value, low, high, is_diverging=chart.is_diverging)
        stops.append(element("stop", offset=share, class_=colour.hue, stop_opacity=colour.strength))
    gradient = element("defs", element("linearGradient", *stops, id=name))
    box = {"x": x, "y": top, "width": wide, "height": 9.0, "rx": 2.0}
    bar = element("rect", fill=f"url(#{name})", **box)
    ends = ((x - 6, "end", names[0]), (x + wide + 6, "start", names[1]))
    texts = [
        element("text", escaped(t), x=at, y=top + 8.5, font_size=SMALL, text_anchor=a, class_="key")
        for at, a, t in ends
    ]
    return element("g", gradient, bar, *texts, class_="legend"), top + 12
