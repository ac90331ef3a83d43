"""Fillings of bars, told apart by their strokes as well as by colour.

In: the number of a series. Out: SVG patterns that lie over the series' colour; the first series has
none. A pattern belongs to the one drawing whose key its name carries.
"""

from __future__ import annotations

from enough.report.svg import element, key_of

_STROKES: tuple[tuple[str, ...], ...] = (
    (),
    ("M-1 7 L7 -1 M-1 1 L1 -1 M5 7 L7 5",),
    ("M0 3 H6",),
    ("M-1 -1 L7 7 M-1 5 L1 7 M5 -1 L7 1",),
    ("M3 0 V6",),
    ("M-1 7 L7 -1 M-1 1 L1 -1 M5 7 L7 5", "M-1 -1 L7 7 M-1 5 L1 7 M5 -1 L7 1"),
    ("M2.2 3 h1.6",),
)


class Hatching:
    """The patterns of one drawing."""

    def __init__(self, *key: object) -> None:
        self._key = key_of(*key)

    def definitions(self, count: int) -> str:
        """What the drawing must contain for `count` series."""
        patterns = [
            element(
                "pattern",
                *(element("path", d=d, class_="hatch") for d in strokes),
                id=f"h{self._key}-{number}",
                width=6,
                height=6,
                patternUnits="userSpaceOnUse",
            )
            for number, strokes in enumerate(_STROKES[:count])
            if strokes
        ]
        return element("defs", *patterns) if patterns else ""

    def over(self, number: int, **box: float) -> str:
        """The strokes over a box of this series."""
        which = number % len(_STROKES)
        if not _STROKES[which]:
            return ""
        return element("rect", class_="hatched", fill=f"url(#h{self._key}-{which})", **box)
