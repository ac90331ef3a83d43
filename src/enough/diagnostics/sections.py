"""What a diagnostic has to show, as plain values: tables, charts, and the words around them.

In: nothing. Out: nothing; these are the values between measuring (`diagnostics`) and drawing
(`report`). A chart never stands without its table, so no number can be read from a picture alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from enough.evaluation.intervals import Interval

Value = str | int | float | Interval | None
"""Of a cell; None is shown as a dash."""
Format = Literal["text", "number", "signed", "share", "count", "quality", "milliseconds"]
"""How a column prints: share as per cent, count without decimals, quality with one."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    format: Format = "number"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values; every row is as long as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{len(row)} values for {len(self.columns)} columns: {row}")


def table(columns: Iterable[tuple[str, Format]], rows: Iterable[Iterable[Value]]) -> Table:
    """A table from pairs of title and format, and rows."""
    return Table(tuple(Column(*one) for one in columns), tuple(tuple(row) for row in rows))


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a line, with an interval where there is one; a note says what it stands for."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A named series of points, in the order in which they are joined."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over a common axis.

    Attributes:
        title, x, y: what is shown, and what the axes are.
        lines: each its own colour and mark.
        ticks: where the x axis is named, with the names; none: where it is convenient.
        y_format: how values of the y axis are printed.
        is_joined: whether points of a line are joined; a cloud of points is not.
        has_diagonal: draw y = x, dashed, both axes from 0 to 1.
        marked: an x that is set apart, such as the chosen setting.
    """

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, str], ...] = ()
    y_format: Format = "number"
    is_joined: bool = True
    has_diagonal: bool = False
    marked: float | None = None


@dataclass(frozen=True, slots=True)
class BarChart:
    """For every group one bar per series, side by side or on top of each other.

    Attributes:
        groups: names below the bars.
        series: names of the parts.
        values: [series][group]; None leaves a gap.
    """

    title: str
    y: str
    groups: tuple[str, ...]
    series: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    y_format: Format = "number"
    is_stacked: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """One labelled value with its interval."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class DotChart:
    """Values below each other, against a common reference line."""

    title: str
    x: str
    dots: tuple[Dot, ...]
    x_format: Format = "number"
    reference: float = 0.0


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A grid of values; colour runs from the lowest to the highest, or around 0.

    Attributes:
        rows, columns: names.
        values: [row][column]; None is an empty cell.
        is_diverging: colour says the sign (a gap), 0 being neutral.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    format: Format = "number"
    is_diverging: bool = False


Chart = LineChart | BarChart | DotChart | HeatMap


@dataclass(frozen=True, slots=True)
class Panel:
    """Charts with the table that has their numbers, and a caption that says what is what."""

    caption: str
    table: Table
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """All there is to show of one diagnostic.

    Attributes:
        name: of the diagnostic; also the anchor of the page.
        title: a few words.
        question: what a reader wants to know, as a question.
        answer: what these rows say to it, in a sentence or two, with numbers.
        panels: ours.
        paper: the paper's own figures or tables, where it has them.
        notes: definitions, and what to be careful about.
    """

    name: str
    title: str
    question: str
    answer: str
    panels: tuple[Panel, ...]
    paper: tuple[Panel, ...] = ()
    notes: tuple[str, ...] = ()
