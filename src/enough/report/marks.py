"""Marks of series, told apart by shape as well as by colour.

In: the number of a series and a place. Out: SVG. Colours are classes (`s1` to `s8`), so the page
decides them for its light and its dark theme. Eight colours against seven shapes: the first 56
series all differ.
"""

from __future__ import annotations

from enough.report.svg import element, hint, path

COLOURS = 8
_DASHES = (None, "7 3", "2 3", "10 3 2 3", "5 2", "12 4", "1 3")
_SIDE = 0.886  # of half a square's side to a radius, for equal areas


def series_class(number: int) -> str:
    """The class that carries a series' colour."""
    return f"s{number % COLOURS + 1}"


def dashes(number: int) -> str | None:
    """How the line of a series is broken."""
    return _DASHES[number % len(_DASHES)]


def mark(number: int, x: float, y: float, radius: float, *, told: str = "", extra: str = "") -> str:
    """The mark of a series, with what is told about it when a pointer rests on it."""
    return element(
        "path",
        hint(told) if told else "",
        d=_outline(number, x, y, radius),
        class_=f"mark {series_class(number)} {extra}".strip(),
    )


def whisker(
    number: int, low: tuple[float, float], high: tuple[float, float], cap: float = 3.5
) -> str:
    """An interval as a line with caps, upright or lying."""
    (x1, y1), (x2, y2) = low, high
    dx, dy = (cap, 0.0) if x1 == x2 else (0.0, cap)
    ends = [("M", x - dx, y - dy, "L", x + dx, y + dy) for x, y in (low, high)]
    d = path("M", x1, y1, "L", x2, y2, *ends[0], *ends[1])
    return element("path", d=d, class_=f"whisker {series_class(number)}")


def _outline(number: int, x: float, y: float, r: float) -> str:
    side, tall, slim = r * _SIDE, r * 1.2, r * 0.42
    box = (x - side, y - side, "H", x + side, "V", y + side, "H", x - side, "Z")
    outlines: tuple[tuple[str | float, ...], ...] = (
        ("M", x - r, y, "A", r, r, "0 1 0", x + r, y, "A", r, r, "0 1 0", x - r, y, "Z"),
        ("M", *box),
        ("M", x, y - tall, "L", x + tall, y + r, "L", x - tall, y + r, "Z"),
        ("M", x, y - r * 1.3, "L", x + r * 1.3, y, "L", x, y + r * 1.3, "L", x - r * 1.3, y, "Z"),
        ("M", x, y + tall, "L", x + tall, y - r, "L", x - tall, y - r, "Z"),
        _plus(x, y, tall, slim),
        ("M", x - r, y - tall, "H", x + r, "L", x - r, y + tall, "H", x + r, "Z"),
    )
    return path(*outlines[number % len(outlines)])


def _plus(x: float, y: float, far: float, near: float) -> tuple[str | float, ...]:
    """Two crossing bars, as one outline clockwise from the top."""
    right = ("V", y - near, "H", x + far, "V", y + near, "H", x + near, "V", y + far)
    left = ("H", x - near, "V", y + near, "H", x - far, "V", y - near, "H", x - near, "Z")
    return ("M", x - near, y - far, "H", x + near, *right, *left)
