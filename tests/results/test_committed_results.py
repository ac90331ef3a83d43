"""docs/results.md and its figures are what their own command makes of the committed rows."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from enough.cli import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results.md"


def test_the_page_is_made_from_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text(encoding="utf-8")
    _, command, _ = text.rsplit("`", 2)
    program, *arguments = shlex.split(command)
    assert program == "enough"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").symlink_to(ROOT / "results")
    (tmp_path / "docs").mkdir()
    CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert (tmp_path / "docs" / "results.md").read_text(encoding="utf-8") == text
    figures = sorted((ROOT / "docs" / "figures").glob("*.svg"))
    assert figures
    for figure in figures:
        assert (tmp_path / "docs" / "figures" / figure.name).read_bytes() == figure.read_bytes()
