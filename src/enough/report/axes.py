"""Axes: grid lines with their numbers, and names below a plot that never run into each other.

In: ticks or names with their places. Out: SVG and the room it needs. Names that must all be read
(groups) break into lines or are turned; where even that is too dense, and on axes of numbers, some
are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from enough.diagnostics.sections import Format
from enough.report.formats import tick_texts
from enough.report.frame import TEXT
from enough.report.lettering import cut, longest_piece, widest, width_of, wrapped
from enough.report.scales import Scale, nice_ticks
from enough.report.svg import element, escaped, hint, lines_of_text

_ANGLE = math.radians(40)
_LONGEST = 150.0
_LINE = TEXT * 1.25


@dataclass(frozen=True, slots=True)
class Naming:
    """How groups are named: lines of each, turned or not.

    Attributes:
        lines: for every group; none for one that is left out.
        is_turned: names climb towards their group.
        height: below the plot.
        overhang: how far a turned name reaches to the left of its group.
    """

    names: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    is_turned: bool
    height: float
    overhang: float


def plan_names(names: Sequence[str], slot: float) -> Naming:
    """Names of groups that are `slot` pixels apart."""
    room = slot - 6
    if all(longest_piece(name, TEXT) <= room for name in names):
        lines = [wrapped(name, room, TEXT, 9) for name in names]
        if max(map(len, lines), default=1) <= 3:
            height = _LINE * max(map(len, lines), default=1) + 6
            return Naming(tuple(names), tuple(map(tuple, lines)), False, height, 0.0)
    every = math.ceil(TEXT * 1.2 / (slot * math.sin(_ANGLE)))
    kept = [(cut(name, _LONGEST, TEXT),) if i % every == 0 else () for i, name in enumerate(names)]
    longest = max(widest(lines, TEXT) for lines in kept)
    height = longest * math.sin(_ANGLE) + TEXT + 8
    return Naming(tuple(names), tuple(kept), True, height, longest * math.cos(_ANGLE) + 6)


def draw_names(naming: Naming, centres: Sequence[float], y: float) -> str:
    """The names below a plot that ends at `y`."""
    parts = []
    for name, lines, x in zip(naming.names, naming.lines, centres, strict=True):
        if not lines:
            continue
        if naming.is_turned:
            turn = f"translate({x + 4:.1f} {y + TEXT + 2:.1f}) rotate({-math.degrees(_ANGLE):.0f})"
            told = hint(name) if lines[0] != name else ""
            parts.append(
                element(
                    "text",
                    escaped(lines[0]) + told,
                    transform=turn,
                    font_size=TEXT,
                    text_anchor="end",
                    class_="tick turned",
                )
            )
        else:
            parts.append(
                lines_of_text(
                    lines, x, y + TEXT + 5, size=TEXT, text_anchor="middle", class_="tick"
                )
            )
    return element("g", *parts, class_="axis x-axis")


def upright_axis(
    ticks: Sequence[float], texts: Sequence[str], scale: Scale, left: float, right: float
) -> str:
    """Grid lines from `left` to `right`, with their numbers at the left of them."""
    lines = [
        element(
            "line",
            x1=left,
            x2=right,
            y1=scale(tick),
            y2=scale(tick),
            class_="grid zero" if tick == 0 else "grid",
        )
        for tick in ticks
    ]
    names = [
        element(
            "text",
            escaped(text),
            x=left - 8,
            y=scale(tick) + TEXT * 0.35,
            font_size=TEXT,
            text_anchor="end",
            class_="tick",
        )
        for tick, text in zip(ticks, texts, strict=True)
    ]
    return "".join(lines) + element("g", *names, class_="axis y-axis")


def fitting(
    places: Sequence[float], widths: Sequence[float], first: float | None = None
) -> list[int]:
    """Which names can stand beside each other.

    Args:
        places: of the middles of the names, along the axis.
        widths: of the names.
        first: the place whose name is kept before all others; then the ends, then the rest.
    """
    order = sorted(
        range(len(places)), key=lambda i: (places[i] != first, i not in (0, len(places) - 1), i)
    )
    taken: list[tuple[float, float]] = []
    kept = []
    for i in order:
        low, high = places[i] - widths[i] / 2, places[i] + widths[i] / 2
        if all(high + 8 <= begin or low - 8 >= end for begin, end in taken):
            taken.append((low, high))
            kept.append(i)
    return sorted(kept)


def ticks_that_fit(
    low: float, high: float, form: Format, length: float, most: int
) -> tuple[tuple[float, ...], list[str]]:
    """Round values along a lying axis of this length, so few that all of them can be named."""
    for count in range(most, 0, -1):
        ticks = nice_ticks(low, high, count)
        texts = tick_texts(ticks, form)
        places = [length * i / (len(ticks) - 1) for i in range(len(ticks))]
        if len(fitting(places, [width_of(text, TEXT) for text in texts])) == len(ticks):
            break
    return ticks, texts


def lying_axis(
    places: Sequence[float],
    texts: Sequence[str],
    y: float,
    width: float,
    special: float | None = None,
) -> tuple[str, float]:
    """Strokes below a plot that ends at `y`, with those names that fit, and where they end."""
    strokes = [element("line", x1=x, x2=x, y1=y, y2=y + 4, class_="stroke") for x in places]
    room = max(56.0, width / len(texts) - 10)
    lines = [wrapped(text, room, TEXT, 3) for text in texts]
    widths = [widest(each, TEXT) for each in lines]
    # A name at the edge moves inwards rather than over the end of the drawing.
    middles = [min(max(x, w / 2), width - w / 2) for x, w in zip(places, widths, strict=True)]
    first = next((m for m, x in zip(middles, places, strict=True) if x == special), None)
    kept = fitting(middles, widths, first)
    names = [
        lines_of_text(
            lines[i],
            middles[i],
            y + TEXT + 7,
            size=TEXT,
            text_anchor="middle",
            class_="tick special" if places[i] == special else "tick",
        )
        for i in kept
    ]
    end = y + 7 + max(len(lines[i]) for i in kept) * _LINE
    return "".join(strokes) + element("g", *names, class_="axis x-axis"), end
