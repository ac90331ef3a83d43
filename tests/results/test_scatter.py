"""Figures that stand alone: their own style, nothing loaded, names that do not overlap."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enough.diagnostics.sections import Point
from enough.results.figures import QUALITY, UTILITY, figures
from enough.results.method_measures import measure_methods
from enough.results.name_column import spread
from enough.results.operating_points import operating_points
from enough.results.scatter import draw_scatter
from enough.results.scatter_values import Named, Scatter, series_of
from tests.report.drawings import along, having, hints, parsed, said
from tests.results.made_up import made_up_outcomes
from tests.results.test_method_measures import made_up_answers

if TYPE_CHECKING:
    from tests.browser import Theme, Watched

pytest_plugins = ("tests.browser",)

CHART = Scatter(
    title="Quality <of> answers",
    x="tokens",
    y="index",
    points=(
        Named("ENOUGH", Point(250, 100.2, 98, 103), is_ours=True),
        Named("BM25 & friends", Point(600, 90, 85, 95), 0),
        Named("dense", Point(601, 90.1, 85, 95), 1),
        Named("REPLUG", Point(602, 90.2), 2),
    ),
    line=(
        Point(0, 80, 78, 82, "k=0"),
        Point(120, 85, 83, 87, "k=1"),
        Point(600, 91, 90, 92, "k=5"),
    ),
    line_name="fixed k=0–5",
)


def test_it_stands_alone() -> None:
    text = draw_scatter(CHART)
    assert "prefers-color-scheme: dark" in text
    assert "system-ui" in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", text)
    assert len(text.encode()) < 60_000
    assert draw_scatter(CHART) == text


def test_points_and_names() -> None:
    root = parsed(draw_scatter(CHART))
    assert len(having(root, "mark")) == 4
    assert len(having(root, "whisker")) == 3, "one has no interval"
    assert len(having(root, "dot")) == 3
    assert {"ENOUGH", "BM25 & friends", "dense", "REPLUG", "fixed k=0–5", "k=1"} <= set(said(root))
    assert "ENOUGH: 100.2 [98, 103] at 250 tokens" in hints(root)
    assert len(having(root, "leader")) == 4, "ours has room beside its point"


def test_names_in_the_column_do_not_overlap() -> None:
    root = parsed(draw_scatter(CHART))
    heights = sorted(along(each)[3] for each in having(root, "leader"))
    assert min(b - a for a, b in pairwise(heights)) >= 15


def test_spread_keeps_order_and_bounds() -> None:
    assert spread([10, 11, 50], 15, 0, 60) == [10, 25, 50]
    assert spread([50, 55, 58], 15, 0, 60) == [30, 45, 60]
    assert spread([0, 0, 0], 15, 0, 20) == [0, 15, 30], "too many: beyond the end, yet apart"
    assert spread([], 15, 0, 20) == []


def test_no_method_has_our_colour_and_none_looks_like_another() -> None:
    looks = [
        (series_of(Named("x", Point(0, 0), n)) % 8, series_of(Named("x", Point(0, 0), n)) % 7)
        for n in range(20)
    ]
    assert len(set(looks)) == 20
    assert all(colour for colour, _ in looks)


def test_figures_of_both_sources() -> None:
    (point,) = operating_points(made_up_outcomes(["LaMP-2", "LaMP-7"], 8, [0.2]))
    methods = measure_methods(made_up_answers())
    both = figures(methods, point)
    assert list(both) == [QUALITY, UTILITY]
    names = {one.name: one.series for one in both[QUALITY].points}
    assert len(names) == 9
    fewer = {one.name: one.series for one in both[UTILITY].points}
    assert fewer.keys() == names.keys() - {"IC-RALM", "REPLUG"}
    assert all(names[name] == series for name, series in fewer.items()), "looks the same in both"
    assert [p.note for p in both[QUALITY].line] == ["k=0", "k=1", "k=3", "k=5"]
    alone = figures(None, point)
    assert list(alone) == [UTILITY]
    (ours,) = alone[UTILITY].points
    assert point.ours is not None
    assert ours.point.y == pytest.approx(point.ours.net.mean())
    assert figures(None, None) == {}


def test_nothing_to_draw() -> None:
    assert "no data" in draw_scatter(Scatter("t", "x", "y", ()))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_browser_shows_it_in_both_themes(watched: Watched, tmp_path: Path, theme: Theme) -> None:
    path = tmp_path / "figure.svg"
    path.write_text(draw_scatter(CHART), encoding="utf-8")
    page = watched.open(path, theme=theme)
    fill = page.evaluate("getComputedStyle(document.querySelector('.page')).fill")
    assert fill == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[theme]
    texts = page.evaluate(
        "[...document.querySelectorAll('text')].map(t => { const b = t.getBBox();"
        " return [b.x, b.y, b.x + b.width, b.y + b.height]; })"
    )
    width = page.evaluate("document.documentElement.viewBox.baseVal.width")
    assert all(left >= 0 and right <= width for left, _, right, _ in texts)
    assert watched.complaints == []
    assert watched.strangers(path) == []
