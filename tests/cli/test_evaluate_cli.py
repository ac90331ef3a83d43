"""`enough evaluate` from the outside, with stand-ins for the models."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app, main
from enough.errors import ConfigError
from tests.data.world import write_tweet_log
from tests.evaluation.evaluate_fakes import Worded
from tests.retrieval.tiny import BagEncoder

RECIPE = """
requests = 2
lessons = 3
seeds = [0, 1]
against = "bm25"
[world]
users = 12
requests_per_user = 2
history = [6, 9]
tasks = ["LaMP-7"]
[slices]
tune = 0.01
label = 0.6
select = 0.29
report = 0.1
[retrieval]
pool = 5
[[methods]]
kind = "bm25"
k = 2
[[methods]]
kind = "empty"
[[methods]]
kind = "ropg-kd"
k = 2
[methods.fit]
steps = 3
check_every = 3
[[methods]]
kind = "oracle-record"
"""


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("enough.generators.hf.HFGenerator.load", lambda config: Worded())
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(RECIPE)
    return path


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def fails(capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, *arguments: object) -> str:
    """The one line that the program itself leaves with status 1."""
    patch.setattr(sys, "argv", ["enough", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    (told,) = shown.err.splitlines()
    return told


def test_help_lists_it() -> None:
    assert "evaluate" in invoke("--help")
    shown = invoke("evaluate", "--help")
    for option in ("--config", "--out", "--export", "--json"):
        assert option in shown


def test_the_whole_way(recipe: Path, tmp_path: Path) -> None:
    found: Any = json.loads(invoke("evaluate", "--config", recipe, "--json"))
    folder = Path("runs") / "small"
    assert found["folder"] == str(folder)
    assert (found["cells_made"], found["cells_found"], found["rows"]) == (5, 0, 10)
    assert found["requests"] == {"LaMP-7": 2}
    assert (found["runs"], found["champion"], found["exported"]) == (2, "bm25", [])
    methods = {line["name"]: line for line in found["methods"]}
    assert methods["oracle-record"]["group"] == "oracle"
    assert methods["ropg-kd"]["metrics"]["LaMP-7"]["rouge-1"]["sd"] is not None
    assert methods["bm25"]["calls"] == 1
    assert methods["empty"]["root_stop"] == 1
    assert {one["other"] for one in found["comparisons"]} == {"empty", "ropg-kd"}
    assert (tmp_path / folder / "rows.parquet").exists()

    export = tmp_path / "predictions"
    shown = invoke("evaluate", "--config", recipe, "--export", export)
    assert "0 cells run, 5 were there" in shown.replace("\n", " ")
    assert "Oracles" in shown
    assert {path.name for path in export.iterdir()} == {
        "bm25-0",
        "empty-0",
        "ropg-kd-0",
        "ropg-kd-1",
        "oracle-record-0",
    }
    golds = json.loads((export / "bm25-0" / "LaMP_7.json").read_text())
    assert golds["task"] == "LaMP_7"
    assert len(golds["golds"]) == 2


def test_data_on_the_command_line(recipe: Path, tmp_path: Path) -> None:
    tweets = {f"u{n}": [f"amber {n} {i} dune" for i in range(3 + n)] for n in range(4)}
    log = write_tweet_log(tmp_path / "LaMP_7", tweets, [("u0", "grove walks"), ("u1", "heath")])
    rows = (log / "train.jsonl").read_text().replace('"q', '"dev-q').replace('"u', '"v')
    (log / "dev.jsonl").write_text(rows.replace('"vser_id', '"user_id'))
    recipe.write_text('[[methods]]\nkind = "bm25"\n')
    out = tmp_path / "run"
    found = json.loads(invoke("evaluate", log, "--config", recipe, "--out", out, "--json"))
    assert (found["requests"], found["rows"]) == ({"LaMP-7": 2}, 2)
    with pytest.raises(ConfigError, match="one folder per task, please; given: LaMP-7, LaMP-7"):
        invoke("evaluate", log, log, "--config", recipe, "--out", out)


def test_errors_are_one_line_with_status_1(
    tmp_path: Path,
    recipe: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def told(*arguments: object) -> str:
        return fails(capsys, monkeypatch, "evaluate", *arguments)

    assert told("--config", "missing.toml") == (
        "error: missing.toml: cannot be read (No such file or directory)"
    )
    assert "nowhere" in told(tmp_path / "nowhere", "--config", recipe)
    recipe.write_text('[[methods]]\nkind = "bm52"\n')
    unknown = told("--config", recipe)
    assert unknown.startswith("error: unknown method in")
    assert "small.toml" in unknown
    assert not (tmp_path / "runs").exists()


def test_an_option_is_missing() -> None:
    result = CliRunner().invoke(app, ["evaluate"])
    assert result.exit_code == 2
    assert "--config" in result.output


def test_another_setting_is_refused(recipe: Path) -> None:
    world = '[world]\nusers = 8\ntasks = ["LaMP-7"]\n'
    recipe.write_text(f'requests = 2\n{world}[[methods]]\nkind = "bm25"\n')
    invoke("evaluate", "--config", recipe, "--json")
    recipe.write_text(recipe.read_text() + "k = 3\n")
    with pytest.raises(ConfigError, match=r"method\.k \(5, now 3\); delete it, or name another"):
        invoke("evaluate", "--config", recipe)
    with pytest.raises(ConfigError, match="cannot be written"):
        invoke("evaluate", "--config", recipe, "--out", recipe / "below")
