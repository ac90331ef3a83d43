"""What a figure of methods shows: named points, a line of fixed lengths, and words for each."""

from __future__ import annotations

from dataclasses import dataclass

from enough.diagnostics.sections import Format, Point
from enough.report.formats import number_text
from enough.report.marks import series_class


@dataclass(frozen=True, slots=True)
class Named:
    """A point with a name; ours is drawn larger, and before all others.

    Attributes:
        series: its number among the others, which decides colour and shape.
    """

    name: str
    point: Point
    series: int = 0
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Scatter:
    """A figure.

    Attributes:
        title, x, y: what is shown, and what the axes are.
        points: methods.
        line: fixed lengths in order; `line_name` says what they are, notes which.
    """

    title: str
    x: str
    y: str
    points: tuple[Named, ...]
    line: tuple[Point, ...] = ()
    line_name: str = ""
    y_format: Format = "number"


def series_of(one: Named) -> int:
    """Which colour and shape; every eighth has the colour that is ours alone."""
    return 0 if one.is_ours else one.series + 1 + one.series // 7


def style_of(one: Named) -> str:
    """The class that carries its colour."""
    return "ours" if one.is_ours else series_class(series_of(one))


def told(chart: Scatter, name: str, point: Point) -> str:
    """A point in words."""
    text = f"{name}: {number_text(point.y, chart.y_format)}"
    if point.low is not None and point.high is not None:
        low, high = (number_text(v, chart.y_format) for v in (point.low, point.high))
        text += f" [{low}, {high}]"
    return f"{text} at {number_text(point.x, 'count')} tokens"
