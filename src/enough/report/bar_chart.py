"""Bars of several series for every group, side by side or on top of each other.

In: a `BarChart`. Out: SVG. Stacked, what is positive grows up from 0 and what is negative down from
it, so that parts of either sign keep their length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from enough.diagnostics.sections import BarChart
from enough.report.axes import draw_names, plan_names, upright_axis
from enough.report.formats import number_text, tick_texts
from enough.report.frame import SMALL, TEXT, WIDE, Entry, Layout, heading, nothing_to_draw
from enough.report.hatching import Hatching
from enough.report.lettering import widest
from enough.report.marks import series_class
from enough.report.scales import Scale, nice_ticks, require_finite, require_grid
from enough.report.svg import element, escaped, hint, root

_ROUNDED_WHOLE = 1.005
_WIDEST, _FILLED = 54.0, 0.76


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, or one part of a stack: from `start` to `end` on the axis of values."""

    series: int
    group: int
    start: float
    end: float


def bars_of(chart: BarChart) -> list[Bar]:
    """Where every bar begins and ends; a value of None has none."""
    bars = []
    for group in range(len(chart.groups)):
        up = down = 0.0
        for number, row in enumerate(chart.values):
            if (value := row[group]) is None:
                continue
            start = (up if value >= 0 else down) if chart.is_stacked else 0.0
            bars.append(Bar(number, group, start, start + value))
            up, down = (start + value, down) if value >= 0 else (up, start + value)
    return bars


def bar_chart(chart: BarChart, layout: Layout = WIDE) -> str:
    """Draw it."""
    require_grid(chart.title, chart.values, len(chart.series), len(chart.groups))
    require_finite(chart.title, (value for row in chart.values for value in row))
    bars, hatching = bars_of(chart), Hatching(chart, layout)
    ends = require_finite(chart.title, [0.0, *(bar.end for bar in bars)])
    head, top = heading(chart.title, _entries(chart, hatching), chart.y, layout)
    # Numbers on bars need room where a bar reaches the end of the axis.
    top += 0 if chart.is_stacked else SMALL / 2
    under = SMALL + 2 if min(ends) < 0 and not chart.is_stacked else 0.0
    highest = max(ends)
    if chart.is_stacked and chart.y_format == "share" and 1 < highest < _ROUNDED_WHOLE:
        highest = 1.0  # printed shares rarely add up to a whole; the axis need not say so
    ticks = nice_ticks(min(ends), highest, 5)
    texts = tick_texts(ticks, chart.y_format)
    left, right = widest(texts, TEXT) + 10, layout.width - 4
    count = max(1, len(chart.groups))
    naming = plan_names(chart.groups, (right - left) / count)
    left = max(left, naming.overhang - (right - left) / count / 2)
    slot = (right - left) / count
    bottom = top + layout.plot_height
    y = Scale(ticks[0], ticks[-1], bottom, top)
    centres = [left + slot * (i + 0.5) for i in range(len(chart.groups))]
    body = [hatching.definitions(len(chart.series)), head]
    body.append(upright_axis(ticks, texts, y, left, right))
    body += _drawn(chart, bars, hatching, y=y, centres=centres, slot=slot)
    body.append(element("line", x1=left, x2=right, y1=y(0), y2=y(0), class_="zero-line"))
    body.append(draw_names(naming, centres, bottom + under))
    if not bars:
        body.append(nothing_to_draw((left + right) / 2, (top + bottom) / 2))
    told = f"{chart.y} of {', '.join(chart.series)} for {', '.join(chart.groups)}."
    return root(
        chart.title,
        f"{told} The numbers are in the table below.",
        "".join(body),
        width=layout.width,
        height=bottom + under + naming.height + 8,
        class_=layout.name,
    )


def _drawn(
    chart: BarChart,
    bars: list[Bar],
    hatching: Hatching,
    *,
    y: Scale,
    centres: list[float],
    slot: float,
) -> Iterator[str]:
    beside = 1 if chart.is_stacked else max(1, len(chart.series))
    wide = min(_WIDEST, slot * _FILLED / beside)
    values = [number_text(bar.end - bar.start, chart.y_format) for bar in bars]
    # Numbers stand on all bars or on none; a few here and there would say that they matter more.
    is_numbered = not chart.is_stacked and widest(values, SMALL) <= wide
    for bar, value in zip(bars, values, strict=True):
        place = 0 if chart.is_stacked else bar.series
        x = centres[bar.group] + (place - beside / 2) * wide
        above, below = sorted((y(bar.start), y(bar.end)))
        gap = min(1.0, wide * 0.08)
        box = {"x": x + gap, "y": above, "width": wide - 2 * gap, "height": below - above}
        told = f"{chart.groups[bar.group]}, {chart.series[bar.series]}: {value}"
        rect = element("rect", class_=f"bar {series_class(bar.series)}", **box)
        yield element("g", hint(told), rect, hatching.over(bar.series, **box), class_="bar-mark")
        if is_numbered:
            yield element(
                "text",
                escaped(value),
                x=x + wide / 2,
                y=below + SMALL + 2 if bar.end < 0 else above - 4,
                font_size=SMALL,
                text_anchor="middle",
                class_="value",
            )


def _entries(chart: BarChart, hatching: Hatching) -> list[Entry]:
    def entry(number: int, name: str) -> Entry:
        def symbol(x: float, y: float) -> str:
            box = {"x": x - 8, "y": y - 6, "width": 16.0, "height": 12.0}
            rect = element("rect", class_=f"bar {series_class(number)}", **box)
            return rect + hatching.over(number, **box)

        is_empty = all(value is None for value in chart.values[number])
        return Entry(f"{name} (no data)" if is_empty else name, symbol)

    names = chart.series if len(chart.series) > 1 else ()
    return [entry(number, name) for number, name in enumerate(names)]
