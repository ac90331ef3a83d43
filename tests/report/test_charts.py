from __future__ import annotations

import math
from dataclasses import replace

import pytest

from enough.diagnostics.sections import (
    BarChart,
    Chart,
    Dot,
    DotChart,
    HeatMap,
    Line,
    LineChart,
    Point,
)
from enough.report.charts import draw
from tests.report.drawings import SVG, having, parsed, said
from tests.report.extremes import HOSTILE, degenerate, degenerate_charts, hostile
from tests.report.made_up import made_up_page

ALL = [
    chart
    for section in made_up_page(degenerate(), hostile()).sections
    for panel in (*section.panels, *section.paper)
    for chart in panel.charts
]


@pytest.mark.parametrize("chart", ALL, ids=lambda chart: f"{type(chart).__name__}-{chart.title}")
def test_every_chart_is_two_well_formed_drawings(chart: Chart) -> None:
    box = parsed(draw(chart))
    drawings = list(box)
    assert [d.get("class", "").split()[1] for d in drawings] == ["wide", "narrow"]
    for drawing in drawings:
        assert drawing.get("role") == "img"
        title, desc = drawing[0], drawing[1]
        assert (title.tag, desc.tag) == (f"{SVG}title", f"{SVG}desc")
        assert title.text == chart.title.replace("\0", "�")
        assert drawing.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
        assert "nan" not in draw(chart)


@pytest.mark.parametrize("chart", ALL, ids=lambda chart: f"{type(chart).__name__}-{chart.title}")
def test_a_drawing_uses_only_what_it_defines_itself(chart: Chart) -> None:
    # The other drawing of a pair is not displayed, and neither is what it defines.
    defined: list[set[str]] = []
    for drawing in parsed(draw(chart)):
        names = [name for each in drawing.iter() if (name := each.get("id"))]
        used = {f[5:-1] for each in drawing.iter() if (f := each.get("fill", "")).startswith("url")}
        assert len(names) == len(set(names))
        assert used <= set(names)
        defined.append(set(names))
    assert not defined[0] & defined[1]


def test_what_is_empty_says_so() -> None:
    empty = [chart for chart in degenerate_charts() if chart.title.startswith("No ")]
    assert len(empty) == 5
    for chart in empty:
        assert all("no data" in said(drawing) for drawing in parsed(draw(chart)))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "make",
    [
        lambda v: LineChart("Bad", "x", "y", (Line("a", (Point(0, v),)),)),
        lambda v: LineChart("Bad", "x", "y", (Line("a", (Point(v, 0),)),)),
        lambda v: LineChart("Bad", "x", "y", (Line("a", (Point(0, 0, v, 1),)),)),
        lambda v: LineChart("Bad", "x", "y", (Line("a", (Point(0, 0),)),), marked=v),
        lambda v: BarChart("Bad", "y", ("a",), ("s",), ((v,),)),
        lambda v: DotChart("Bad", "x", (Dot("a", v),)),
        lambda v: DotChart("Bad", "x", (Dot("a", 0, 0, v),)),
        lambda v: HeatMap("Bad", ("r",), ("c",), ((v,),)),
    ],
)
def test_what_is_no_number_is_refused(make: object, bad: float) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match="chart 'Bad'"):
        draw(make(bad))


def test_text_stays_text() -> None:
    section = hostile()
    for chart in section.panels[0].charts:
        markup = draw(chart)
        assert "<img" not in markup
        assert "</script" not in markup
        shown = " ".join(t for drawing in parsed(markup) for t in said(drawing))
        assert HOSTILE.split()[0] in shown or "nothingtobreakat"[:9] in shown


def test_drawings_with_equal_titles_define_different_names() -> None:
    bars = BarChart("Same", "y", ("a",), ("s", "t"), ((1.0,), (2.0,)))
    both = parsed(f"<div>{draw(bars)}{draw(replace(bars, y='other'))}</div>")
    names = [each.get("id") for each in both.iter() if each.get("id")]
    assert len(names) == len(set(names)) == 4 * 3
    assert len(having(both, "hatched")) == 4
