"""Labelled values below each other, with intervals, against a reference line.

In: a `DotChart`. Out: SVG. A dot is hollow where its interval holds the reference: such a value
cannot be told from it.
"""

from __future__ import annotations

from enough.diagnostics.sections import Dot, DotChart
from enough.report.axes import lying_axis, ticks_that_fit
from enough.report.formats import number_text
from enough.report.frame import TEXT, WIDE, Entry, Layout, footing, heading, nothing_to_draw
from enough.report.lettering import widest, wrapped
from enough.report.marks import mark, whisker
from enough.report.scales import Scale, require_finite
from enough.report.svg import element, escaped, lines_of_text, root

_LABELS = 0.4  # of the width, at most
_RADIUS, _LINE, _GAP = 5.0, TEXT * 1.25, 13.0


def dot_chart(chart: DotChart, layout: Layout = WIDE) -> str:
    """Draw it."""
    values = [value for dot in chart.dots for value in (dot.value, dot.low, dot.high)]
    numbers = require_finite(chart.title, [*values, chart.reference])
    head, top = heading(chart.title, _entries(chart), "", layout)
    labels = [wrapped(dot.label, layout.width * _LABELS, TEXT, 4) for dot in chart.dots]
    texts = [number_text(dot.value, chart.x_format) for dot in chart.dots]
    left = max((widest(lines, TEXT) for lines in labels), default=0.0) + 14
    right = layout.width - max(widest(texts, TEXT), TEXT) - 16
    low, high = min(numbers), max(numbers)
    ticks, names = ticks_that_fit(low, high, chart.x_format, right - left, 5)
    x = Scale(ticks[0], ticks[-1], left, right)
    heights = [len(lines) * _LINE + _GAP for lines in labels] or [80.0]
    bottom = top + sum(heights)
    body = [head]
    body += [element("line", x1=x(t), x2=x(t), y1=top, y2=bottom, class_="grid") for t in ticks]
    middle = x(chart.reference)
    body.append(element("line", x1=middle, x2=middle, y1=top, y2=bottom, class_="reference"))
    for i, dot in enumerate(chart.dots):
        y = top + sum(heights[:i]) + heights[i] / 2
        body.append(_row(chart, dot, labels[i], x=x, y=y, width=layout.width))
    if not chart.dots:
        body.append(nothing_to_draw((left + right) / 2, (top + bottom) / 2))
    axis, below = lying_axis([x(tick) for tick in ticks], names, bottom, layout.width)
    body.append(axis)
    foot, end = footing(chart.x, below, left, right, layout.width)
    told = f"{chart.x} of {', '.join(dot.label for dot in chart.dots)}."
    return root(
        chart.title,
        f"{told} The numbers are in the table below.",
        "".join(body) + foot,
        width=layout.width,
        height=end + 8,
        class_=layout.name,
    )


def _row(chart: DotChart, dot: Dot, label: list[str], *, x: Scale, y: float, width: float) -> str:
    text, hollow = number_text(dot.value, chart.x_format), "hollow" if _holds(chart, dot) else ""
    base = y + TEXT * 0.35
    first = base - (len(label) - 1) * _LINE / 2
    low = dot.value if dot.low is None else dot.low
    high = dot.value if dot.high is None else dot.high
    told = f"{dot.label}: {text}"
    if low != high:
        told += f" [{number_text(low, chart.x_format)}, {number_text(high, chart.x_format)}]"
    return element(
        "g",
        element("line", x1=x.start, x2=x.end, y1=y, y2=y, class_="guide"),
        lines_of_text(label, 0, first, size=TEXT, class_="row-name"),
        whisker(0, (x(low), y), (x(high), y)) if low != high else "",
        mark(0, x(dot.value), y, _RADIUS, told=told, extra=hollow),
        element(
            "text",
            escaped(text),
            x=width,
            y=base,
            font_size=TEXT,
            text_anchor="end",
            class_="value",
        ),
    )


def _holds(chart: DotChart, dot: Dot) -> bool:
    """Whether the interval holds the reference; without one, no."""
    if dot.low is None or dot.high is None:
        return False
    return dot.low <= chart.reference <= dot.high


def _entries(chart: DotChart) -> list[Entry]:
    name = number_text(chart.reference, "number")
    entries = []
    if any(_holds(chart, dot) for dot in chart.dots):
        entries.append(
            Entry(f"interval includes {name}", lambda x, y: mark(0, x, y, _RADIUS, extra="hollow"))
        )
        if any(dot.low is not None and not _holds(chart, dot) for dot in chart.dots):
            entries.insert(
                0, Entry(f"interval excludes {name}", lambda x, y: mark(0, x, y, _RADIUS))
            )
    return entries
