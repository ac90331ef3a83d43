"""The page: blind, self-contained, safe whatever people wrote; and the folder it goes into."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from enough.annotation.export import export_pairs
from enough.annotation.key import read_key
from enough.annotation.page import make_page
from enough.annotation.pairs import DrawnPairs
from enough.baselines.registry import METHODS
from enough.errors import ConfigError, DataError, MissingExtraError
from tests.annotation.made_up import OURS, THEIRS, drawn


def embedded(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def with_left(text: str) -> DrawnPairs:
    found = drawn()
    return replace(found, pairs=(replace(found.pairs[0], left=text), *found.pairs[1:]))


def test_the_page_is_blind() -> None:
    found = drawn()
    html = make_page(found).html.lower()
    for hidden in (OURS, THEIRS, "secretreference", '"u1"'):
        assert hidden not in html
    assert "alpha answer" in html, "answers themselves are there"
    (keys,) = {tuple(pair) for pair in embedded(make_page(found).html)["pairs"]}
    assert keys == ("history", "historyLength", "id", "input", "left", "right", "task")


@pytest.mark.parametrize("asset", ["page.html.jinja", "page.css", "page.js"])
def test_nothing_around_the_data_reads_like_a_method(asset: str) -> None:
    text = resources.files("enough.annotation").joinpath("assets", asset).read_text("utf-8").lower()
    words = set(re.findall(r"[a-z][a-z0-9-]*", text))
    assert not words & set(METHODS)


def test_data_come_through_as_they_are_and_cannot_leave_their_script() -> None:
    nasty = "</script><script>alert(1)</script> <!-- & \u2028 \ud800 'ö' \"q\" ${x} {{ y }}"
    html = make_page(with_left(nasty)).html
    assert html.encode(), "a lone half of a character can be written"
    assert embedded(html)["pairs"][0]["left"] == nasty
    assert html.count("<script") == 2 and html.count("</script>") == 2
    assert "alert(1)<" not in html


def test_nothing_is_loaded_from_anywhere() -> None:
    html = make_page(drawn()).html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    rules = policy[1].replace("&#39;", "'")
    assert rules.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in rules
    assert not re.search(r"https?:|src=|url\(|@import|style=", html)


def test_the_digest_is_of_what_is_shown() -> None:
    page = make_page(drawn())
    assert embedded(page.html)["digest"] == page.digest
    assert make_page(drawn()) == page
    assert make_page(with_left("other")).digest != page.digest


def test_without_jinja(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match="an annotation page needs the extra 'report'"):
        make_page(drawn())


def test_an_export_and_its_key(tmp_path: Path) -> None:
    found, folder = drawn(), tmp_path / "study"
    key = export_pairs(found, folder)
    assert {path.name for path in folder.iterdir()} - {".lock"} == {"page.html", "key.json"}
    assert read_key(folder) == read_key(folder / "key.json") == key
    assert list(key.lines) == [pair.id for pair in found.pairs]
    line = key.lines["pair-1"]
    assert {line.left, line.right} == {OURS, THEIRS}
    assert (line.left == OURS) == found.method_is_left["pair-1"]
    assert (line.task, line.request_id) == (found.pairs[0].task.name, found.pairs[0].request_id)
    assert key.page == embedded((folder / "page.html").read_text())["digest"]


def test_a_folder_holds_one_export(tmp_path: Path) -> None:
    export_pairs(drawn(), tmp_path)
    before = (tmp_path / "page.html").read_bytes()
    (tmp_path / "page.html").unlink()
    export_pairs(drawn(), tmp_path)
    assert (tmp_path / "page.html").read_bytes() == before, "the same one may be made again"
    with pytest.raises(ConfigError, match="holds another export, by page"):
        export_pairs(drawn(seed=1), tmp_path)
    assert (tmp_path / "page.html").read_bytes() == before
    (tmp_path / "key.json").unlink()
    with pytest.raises(ConfigError, match="holds a page without its key"):
        export_pairs(drawn(), tmp_path)


def test_other_files_are_no_keys(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    with pytest.raises(DataError, match=r"key\.json: cannot be read"):
        read_key(tmp_path)
    path.write_text('{"format": 2}')
    with pytest.raises(DataError, match="is not the key of an annotation page"):
        read_key(path)
    path.write_text('{"format": 1, "page": "x", "settings": {"tasks": []}, "tasks": {}}')
    with pytest.raises(DataError, match="the key is damaged: 'pairs'"):
        read_key(path)
    path.unlink()
    export_pairs(drawn(), tmp_path)
    path.write_text(path.read_text().replace(f'"left": "{OURS}"', '"left": "somebody"', 1))
    with pytest.raises(ConfigError, match=r"pair-\d+: left and right must be"):
        read_key(path)
