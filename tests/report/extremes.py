"""Sections that go wrong easily: no, one or too many values, endless and hostile words."""

from __future__ import annotations

from enough.diagnostics.sections import (
    BarChart,
    Chart,
    Dot,
    DotChart,
    HeatMap,
    Line,
    LineChart,
    Panel,
    Point,
    Section,
    Table,
    table,
)

UNBROKEN = "nothingtobreakat" * 20
HOSTILE = '</script><img src=x onerror="alert(1)">&amp;\x00'


def degenerate_charts() -> tuple[Chart, ...]:
    """Everything that has no, one or too many values, or names that hardly fit."""
    long = "a very long group name that nobody would choose but somebody will"
    return (
        LineChart("One point", "x", "y", (Line("only", (Point(3, 0.5),)),)),
        LineChart(
            "All equal", "x", "y", (Line("flat", tuple(Point(i, 7.0) for i in range(4))),),
            y_format="count",
        ),
        LineChart("All shares are 1", "x", "y", (Line("one", (Point(0, 1.0), Point(1, 1.0))),),
                  y_format="share"),
        LineChart("No points", "x", "y", (Line("first", ()), Line("second", ()))),
        LineChart("No lines", "x", "y", ()),
        LineChart("Huge range", "x", "y",
                  (Line("a", (Point(-1e9, -3e12), Point(0, 1e-9), Point(2e9, 5e12))),)),
        LineChart("Tiny range", "x", "y", (Line("a", (Point(0, 1e-9), Point(1e-9, 3e-9))),)),
        LineChart(
            "Long names of ticks and lines", long, long,
            tuple(Line(f"{long} {i}", (Point(0, i), Point(1, i + 1))) for i in range(3)),
            ((0.0, "the beginning of it all"), (0.5, "somewhere in the middle"), (1.0, "the end")),
        ),
        BarChart("No groups", "y", (), ("a",), ((),)),
        BarChart("All missing", "y", ("a", "b"), ("s", "t"), ((None, None), (None, None))),
        BarChart("All zero", "y", ("a", "b"), ("s",), ((0.0, 0.0),)),
        BarChart("Stack with negative parts", "y", ("a", "b", "c"), ("up", "down", "more"),
                 ((1.0, 2.0, None), (-1.5, -0.5, -2.0), (0.5, 0.5, 0.5)), is_stacked=True),
        BarChart("Long names", "y", tuple(f"{long} {i}" for i in range(6)), ("s",),
                 (tuple(float(i) for i in range(6)),)),
        BarChart("Many groups", "y", tuple(f"group {i}" for i in range(60)), ("s", "t"),
                 (tuple(float(i % 7) for i in range(60)), tuple(float(i % 5) for i in range(60)))),
        DotChart("No dots", "x", ()),
        DotChart("One dot at the reference", "x", (Dot("alone", 0.0),)),
        DotChart("Reference far away", "x", (Dot(long, 99.0, 98.0, 99.5),), "quality", 100.0),
        HeatMap("No cells", (), (), ()),
        HeatMap("All equal", ("a", "b"), ("c", "d"), ((1.0, 1.0), (1.0, 1.0))),
        HeatMap("All missing", ("a",), ("c", "d"), ((None, None),)),
        HeatMap("All zero", ("a",), ("c", "d"), ((0.0, 0.0),), is_diverging=True),
        HeatMap("Many columns", (long, "b"), tuple(f"column {i}" for i in range(14)),
                tuple(tuple(0.1 * i - 0.7 for i in range(14)) for _ in range(2)), "signed", True),
    )  # fmt: skip


def degenerate() -> Section:
    empty: Table = table([("Nothing", "text"), ("At all", "number")], [])
    wide = table(
        [("Name", "text"), *((f"a longer column title {i}", "number") for i in range(14))],
        [(f"row {j}", *(j * 10**i / 7 for i in range(14))) for j in range(40)],
    )
    return Section(
        "degenerate", "Degenerate charts", "What if there is nothing to show?",
        "Then it is said.",
        (Panel("One of each.", empty, degenerate_charts()), Panel("A wide, long table.", wide)),
    )  # fmt: skip


def hostile() -> Section:
    line = Line(HOSTILE, (Point(0, 1, note=HOSTILE), Point(1, 2)))
    charts: tuple[Chart, ...] = (
        LineChart(HOSTILE, HOSTILE, HOSTILE, (line, line), ((0.0, HOSTILE), (1.0, "'\"<>&"))),
        BarChart(HOSTILE, HOSTILE, (HOSTILE,), (HOSTILE, "b"), ((1.0,), (2.0,))),
        DotChart(HOSTILE, HOSTILE, (Dot(HOSTILE, 1.0, 0.5, 2.0),)),
        HeatMap(HOSTILE, (HOSTILE,), (HOSTILE,), ((1.0,),)),
    )
    charts += (
        BarChart(UNBROKEN, UNBROKEN, (UNBROKEN, "b"), ("s",), ((1.0, 2.0),)),
        DotChart(UNBROKEN, UNBROKEN, (Dot(UNBROKEN, 1.0),)),
        HeatMap(UNBROKEN, (UNBROKEN, "b"), (UNBROKEN, "b"), ((1.0, None), (2.0, 3.0))),
        LineChart(UNBROKEN, UNBROKEN, UNBROKEN, (Line(UNBROKEN, (Point(0, 1),)), line)),
    )
    cells = table(
        [(HOSTILE, "text"), ("b", "number")],
        [(HOSTILE, None), ('comma, "quote"', 1.5), (UNBROKEN, 2)],
    )
    return Section(
        'hostile "><name',
        HOSTILE,
        HOSTILE,
        HOSTILE,
        (Panel(HOSTILE, cells, charts),),
        (),
        (HOSTILE, UNBROKEN),
    )
