"""Notes beside points, where there is room for them.

In: points in pixels with their notes. Out: where each note is written that touches no mark and no
other note; the others are left to the tooltips.
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.report.frame import SMALL
from enough.report.lettering import width_of

Box = tuple[float, float, float, float]
"""Left, top, right, bottom; of a line, its two ends."""

_MOST, _WIDEST, _CLEAR = 24, 110.0, 7.0


def place_notes(
    points: Sequence[tuple[float, float, str]], strokes: Sequence[Box], plot: Box
) -> list[tuple[float, float, str]]:
    """Left end and baseline of every note that finds a place inside the plot.

    Args:
        points: x, y and note; an empty note is none.
        strokes: lines that no note may cross, each from (x, y) to (x, y).
        plot: notes stay inside it.
    """
    if sum(1 for *_, note in points if note) > _MOST:
        return []
    marks = [(x - _CLEAR, y - _CLEAR, x + _CLEAR, y + _CLEAR) for x, y, _ in points]
    taken: list[Box] = [*marks, *(box for stroke in strokes for box in _beads(stroke))]
    placed = []
    for x, y, note in points:
        wide = width_of(note, SMALL)
        if not note or wide > _WIDEST:
            continue
        for left, base in _candidates(x, y, wide, plot):
            box = (left, base - SMALL, left + wide, base + 3)
            if _is_inside(box, plot) and not any(_touches(box, other) for other in taken):
                taken.append(box)
                placed.append((left, base, note))
                break
    return placed


def _candidates(x: float, y: float, wide: float, plot: Box) -> list[tuple[float, float]]:
    """Above, below, right, left, then the corners; near an edge, moved inwards."""
    middle_left = min(max(x - wide / 2, plot[0]), plot[2] - wide)
    above, below, middle = y - _CLEAR - 4, y + _CLEAR + SMALL, y + SMALL * 0.35
    right, left = x + _CLEAR + 2, x - _CLEAR - 2 - wide
    corners = [(right, above), (left, above), (right, below), (left, below)]
    return [(middle_left, above), (middle_left, below), (right, middle), (left, middle), *corners]


def _beads(stroke: Box) -> list[Box]:
    """A line as small boxes along it, close enough that no note slips between."""
    x1, y1, x2, y2 = stroke
    count = 1 + int(max(abs(x2 - x1), abs(y2 - y1)) / 4)
    places = [(x1 + (x2 - x1) * i / count, y1 + (y2 - y1) * i / count) for i in range(count + 1)]
    return [(x - 2, y - 2, x + 2, y + 2) for x, y in places]


def _is_inside(box: Box, plot: Box) -> bool:
    return box[0] >= plot[0] and box[1] >= plot[1] and box[2] <= plot[2] and box[3] <= plot[3]


def _touches(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
