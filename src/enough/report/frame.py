"""What all charts have above their plot: a title, a legend, the name of the upright axis.

In: words and marks. Out: SVG and the height it took. Every chart is drawn twice, for wide and for
narrow places, because text that is scaled down with a picture cannot be read on a telephone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from enough.report.lettering import cut, width_of, wrapped
from enough.report.marks import dashes, mark, series_class
from enough.report.svg import element, escaped, hint, lines_of_text

TITLE, TEXT, SMALL = 14.0, 12.0, 11.0
"""Sizes of letters in pixels; a drawing is shown at about its natural size."""

_SYMBOL, _GAP = 27.0, 16.0


@dataclass(frozen=True, slots=True)
class Layout:
    """The place a chart is drawn for; the plot has this height, words come on top of it."""

    name: Literal["wide", "narrow"]
    width: float
    plot_height: float


WIDE, NARROW = Layout("wide", 480, 220), Layout("narrow", 340, 200)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a legend; `symbol` draws around a centre."""

    label: str
    symbol: Callable[[float, float], str]


def mark_entry(label: str, number: int, *, is_joined: bool = False) -> Entry:
    """The legend of a series that is drawn with marks, joined by a line or not."""

    def symbol(x: float, y: float) -> str:
        line = element(
            "line",
            x1=x - 10,
            x2=x + 10,
            y1=y,
            y2=y,
            class_=f"line {series_class(number)}",
            stroke_dasharray=dashes(number),
        )
        return (line if is_joined else "") + mark(number, x, y, 4)

    return Entry(label, symbol)


def heading(title: str, entries: Sequence[Entry], axis: str, layout: Layout) -> tuple[str, float]:
    """Title, legend and name of the upright axis, and where the plot may begin."""
    lines = wrapped(title, layout.width - 4, TITLE, 3)
    parts = [lines_of_text(lines, 0, TITLE, size=TITLE, class_="chart-title")]
    bottom = TITLE * 1.25 * len(lines) + 4
    if entries:
        markup, bottom = _legend(entries, bottom + 4, layout.width)
        parts.append(markup)
    if axis:
        named = wrapped(axis, layout.width - 4, TEXT, 2)
        parts.append(lines_of_text(named, 0, bottom + TEXT + 3, size=TEXT, class_="axis-name"))
        bottom += TEXT * 1.25 * len(named) + 3
    return "".join(parts), bottom + 12


def footing(name: str, y: float, left: float, right: float, width: float) -> tuple[str, float]:
    """The name of the lying axis below the middle of the plot, and where it ends."""
    if not name:
        return "", y
    lines = wrapped(name, width - 8, TEXT, 2)
    half = max(width_of(line, TEXT) for line in lines) / 2
    x = min(max((left + right) / 2, half + 2), width - half - 2)
    text = lines_of_text(
        lines, x, y + TEXT + 6, size=TEXT, text_anchor="middle", class_="axis-name"
    )
    return text, y + TEXT * 1.25 * len(lines) + 8


def nothing_to_draw(x: float, y: float) -> str:
    """In place of marks."""
    return lines_of_text(["no data"], x, y, size=TEXT, text_anchor="middle", class_="empty")


def _legend(entries: Sequence[Entry], top: float, width: float) -> tuple[str, float]:
    """Entries in rows, as many in each as fit."""
    x, y, parts = 0.0, top, []
    for entry in entries:
        label = cut(entry.label, width - _SYMBOL - 4, TEXT)
        wide = _SYMBOL + width_of(label, TEXT)
        if x and x + wide > width:
            x, y = 0.0, y + 19
        text = element("text", _label(label, entry.label), x=x + _SYMBOL, y=y + 13, font_size=TEXT)
        parts.append(entry.symbol(x + 10, y + 9) + text)
        x += wide + _GAP
    return element("g", *parts, class_="legend"), y + 19


def _label(label: str, whole: str) -> str:
    """A label; the whole of it as a hint where it had to be cut."""
    return escaped(label) + (hint(whole) if label != whole else "")
