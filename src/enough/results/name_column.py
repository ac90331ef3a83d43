"""Names in a column beside a plot, each joined to its point.

In: points in pixels with their names. Out: SVG, and the lines that were drawn. Names stand in the
order of their points from top to bottom, moved no further than they must be to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from enough.report.frame import TEXT
from enough.report.point_notes import Box
from enough.report.svg import element, escaped, path

_ROW, _ELBOW = 15.0, 8.0


@dataclass(frozen=True, slots=True)
class Label:
    """A name and its point; `style` is the class that colours its line."""

    name: str
    x: float
    y: float
    style: str


def name_column(labels: Sequence[Label], plot: Box) -> tuple[str, list[Box]]:
    """Names at the right of a plot, and the slanting parts of their lines."""
    _, top, right, bottom = plot
    order = sorted(labels, key=lambda one: (one.y, -one.x))
    heights = spread([one.y for one in order], _ROW, top, bottom)
    parts, strokes = [], []
    for one, height in zip(order, heights, strict=True):
        bend = path("M", one.x, one.y, "L", right, height, "H", right + _ELBOW)
        parts.append(element("path", d=bend, class_=f"leader {one.style}"))
        parts.append(
            element(
                "text",
                escaped(one.name),
                x=right + _ELBOW + 4,
                y=height + TEXT * 0.35,
                font_size=TEXT,
                class_=f"name {one.style}",
            )
        )
        strokes.append((one.x, one.y, right, height))
    return element("g", *parts), strokes


def spread(places: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Rising places moved to be `apart`; within the bounds if all of them have room there.

    >>> spread([10, 11, 50], 15, 0, 60)
    [10, 25, 50]
    >>> spread([50, 55, 58], 15, 0, 60)
    [30, 45, 60]
    """
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + apart) if found else max(place, low))
    limit = max(high, low + apart * (len(found) - 1))
    for i in range(len(found) - 1, -1, -1):
        found[i] = min(found[i], limit)
        limit = found[i] - apart
    return found
