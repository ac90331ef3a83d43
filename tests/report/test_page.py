from __future__ import annotations

import base64
import builtins
import hashlib
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from enough.diagnostics.sections import Panel, Section, table
from enough.errors import MissingExtraError
from enough.evaluation.intervals import Interval
from enough.report.page import Page, render, write_report
from enough.report.tables import as_csv, table_view
from tests.report.extremes import HOSTILE, hostile
from tests.report.made_up import made_up_page


def one(section: Section) -> Page:
    return Page("Title", "Subtitle", (), (section,), "seed = 7", "enough 0.1.0")


def plain(name: str = "plain", **changes: Any) -> Section:
    panel = Panel("Caption.", table([("A", "text"), ("B", "share")], [("x", 0.5)]))
    return replace(Section(name, "Plain", "Why?", "Because.", (panel,)), **changes)


def test_everything_is_on_the_page_in_order() -> None:
    html = render(made_up_page())
    page = made_up_page()
    for name, value in page.facts:
        assert f"<dt>{name}</dt><dd>{value}</dd>" in html
    places = [html.index(f'<section class="diagnostic" id="{s.name}"') for s in page.sections]
    assert places == sorted(places)
    summary = html[html.index('id="summary"') : places[0]]
    for section in page.sections:
        assert f'<a href="#{section.name}">{section.question}</a>' in summary
    assert "seeds = [0, 1, 2]" in html
    assert page.made_by in html


def test_the_paper_is_named_as_such_and_only_where_it_is() -> None:
    without = render(one(plain()))
    assert "The paper" not in without
    assert "Ours" not in without
    within = render(one(plain(paper=plain().panels)))
    assert "on its own models and data" in within
    assert within.index("<h3>Ours</h3>") < within.index("<h3>The paper")


def test_the_policy_allows_only_our_own_style_and_script() -> None:
    html = render(one(plain()))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;;" in policy[1]
    assert policy[1].startswith("default-src &#39;none&#39;;")
    assert "unsafe" not in policy[1]


def test_the_page_names_no_other_place() -> None:
    html = render(made_up_page())
    links = re.findall(r'(?:href|src|action|data)="([^"]*)"', html)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert set(re.findall(r"\w+://[^\"' ]*", html)) == {"http://www.w3.org/2000/svg"}
    assert " style=" not in html


def test_text_stays_text() -> None:
    page = Page(HOSTILE, HOSTILE, ((HOSTILE, HOSTILE),), (hostile(),), HOSTILE, HOSTILE)
    html = render(page)
    assert "<img" not in html
    assert html.count("</script>") == 1
    assert 'id="hostile-name"' in html


def test_anchors_are_unique_and_keep_out_of_the_page_s_own() -> None:
    names = ("summary", "twice", "twice", "a b/c", "***")
    html = render(replace(one(plain()), sections=tuple(map(plain, names))))
    anchors = re.findall(r'<section class="diagnostic" id="([^"]*)"', html)
    assert anchors == ["summary-2", "twice", "twice-2", "a-b-c", "section"]
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))


def test_a_number_that_cannot_be_shown_is_found() -> None:
    bad = Panel("", table([("Loss", "number")], [(math.nan,)]))
    with pytest.raises(ValueError, match="section 'plain': column 'Loss': nan cannot be shown"):
        render(one(plain(panels=(bad,))))


def test_a_page_without_sections_is_a_page() -> None:
    html = render(Page("Nothing", "", (), (), "", ""))
    assert "How this was made" in html
    assert 'class="facts"' not in html


def test_tables_are_aligned_by_what_they_hold() -> None:
    mixed = table([("A", "share"), ("B", "share")], [("none", 0.5), (0.1, None)])
    view = table_view(mixed)
    assert [head.is_text for head in view.heads] == [True, False]
    assert [[cell.text for _, cell in row] for row in view.rows] == [
        ["none", "50.0%"],
        ["10.0%", "–"],
    ]


def test_csv_has_all_digits_and_three_columns_for_an_interval() -> None:
    rows = [('a, "b"', Interval(0.123456, -0.1, 0.3)), ("c", None), ("d", 2)]
    text = as_csv(table([("Name", "text"), ("Δ", "signed")], rows))
    assert text == 'Name,Δ,Δ low,Δ high\n"a, ""b""",0.123456,-0.1,0.3\nc,,,\nd,2,,\n'


def test_the_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    write_report(path, one(plain(title="lone \ud800 half")))
    assert path.read_text(encoding="utf-8").endswith("</html>")
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_equal_pages_are_equal_bytes() -> None:
    assert render(made_up_page(hostile())) == render(made_up_page(hostile()))


def test_without_jinja_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name == "jinja2":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"a report needs the extra 'report'"):
        render(one(plain()))
