"""`enough diagnose` and `enough report`: what is refused, and in which words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.diagnostics.registry import DIAGNOSTICS
from enough.errors import ConfigError, DataError, UnknownNameError
from tests.cli.tweets import write_small_log


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_without_a_name_all_are_listed() -> None:
    assert run("diagnose").split() == list(DIAGNOSTICS)
    assert json.loads(run("diagnose", "--json")) == list(DIAGNOSTICS)


def test_labels_and_controllers_that_are_not_there(tmp_path: Path) -> None:
    log = write_small_log(tmp_path)
    out = tmp_path / "out"
    given = ["diagnose", "fixed-length", "--data", log, "--labels", tmp_path / "none"]
    with pytest.raises(DataError, match="none: "):
        run(*given, "--out", out)
    assert not out.exists()


def test_a_mistyped_name_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'fixed-length'"):
        run("diagnose", "fixed-lenght", "--out", tmp_path / "out")
    with pytest.raises(UnknownNameError, match="did you mean 'sweeps'"):
        run("report", "--only", "sweep", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[sweps]\n", "unknown table .*'sweps'; did you mean 'sweeps'"),
        ("study = 3\n", r"study must be a table, \[study\]"),
        ("[study]\nrequest = 3\n", "did you mean 'requests'"),
        ("[sweeps]\nlambda = [-1.0]\n", "sweeps"),
        ('[study]\ncontroller = "here"\n', "study.controller needs study.labels"),
        ("[human-evaluation]\njudgements = ['a.json']\n", "needs both export and judgements"),
    ],
)
def test_settings_that_cannot_be(text: str, told: str, tmp_path: Path) -> None:
    settings = tmp_path / "study.toml"
    settings.write_text(text)
    with pytest.raises((ConfigError, UnknownNameError), match=told):
        run("report", "--config", settings, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_labels_need_the_logs_they_were_made_from(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="need --data"):
        run("diagnose", "fixed-length", "--labels", tmp_path, "--out", tmp_path / "out")


def test_people_are_asked_for_without_any_model(tmp_path: Path) -> None:
    """No judgements: nothing is measured, no study is opened, and the section says what to do."""
    (section,) = json.loads(run("diagnose", "human-evaluation", "--out", tmp_path, "--json"))
    assert "enough annotate export" in section["answer"]
    assert "Do people prefer" in run("diagnose", "human-evaluation", "--out", tmp_path)
    page = tmp_path / "page.md"
    run("diagnose", "human-evaluation", "--out", tmp_path, "--markdown", page, "--machine", "mine")
    written = page.read_text(encoding="utf-8")
    assert written.startswith("# Results of the diagnostics\n\nTasks of made-up people: ")
    assert "Machine: mine." in written
    assert "Do people prefer" in written
    assert written.endswith("This page is made by `enough diagnose human-evaluation`.\n")
