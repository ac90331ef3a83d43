"""`enough tune` from the outside, with a tiny random model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from enough.cli import tune as command
from enough.errors import ConfigError, DataError, UnknownNameError
from tests.cli.tweets import write_talkers_log
from tests.conftest import TinyModel
from tests.retrieval.tiny import BagEncoder
from tests.tuning.toys import WORDS, save_toy

app = typer.Typer()
app.command()(command.tune)


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def settings(tmp_path: Path, tiny_model: TinyModel) -> Path:
    folder = save_toy(tmp_path / "toy", tiny_model("llama"))
    path = tmp_path / "tune.toml"
    path.write_text(
        'split = "train"\nheld_out = 0.3\nmeasured = 3\nmax_tokens = 400\n'
        '[retrieval]\nretriever = "recency"\n'
        f'[generator]\nmodel = "{folder}"\ndevice = "cpu"\n[lora]\nrank = 2\n'
    )
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_talkers_log(tmp_path, WORDS)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_log(log: Path, settings: Path, tmp_path: Path) -> None:
    out = tmp_path / "adapter"
    report: Any = json.loads(run(log, "--out", out, "--config", settings, "--json"))
    assert report["base_model"] == "toy"
    assert report["source"] == "own logs"
    counts = report["requests"]
    assert counts["fitted"]["LaMP-7"] + counts["held_out"]["LaMP-7"] == 20
    assert [row["task"] for row in report["measured"]["after"]] == ["LaMP-7", "all"]
    assert report["this_run"]["seconds"] > 0
    shown = run(log, "--out", out, "--config", settings)  # finished: told again
    assert "Users it was not tuned on" in shown
    assert "steps, loss" in shown


def test_made_up_people(settings: Path, tmp_path: Path) -> None:
    settings.write_text(f"requests = 10\n{settings.read_text()}")
    report = json.loads(
        run("--out", tmp_path / "a", "--config", settings, "--users", "8", "--json")
    )
    assert "made-up world" in report["source"]
    assert "8 users" in report["source"]
    assert len(report["requests"]["fitted"]) == 6


def test_made_up_people_beside_a_log(log: Path, settings: Path, tmp_path: Path) -> None:
    settings.write_text(f"requests = 10\n{settings.read_text()}")
    options = ("--out", tmp_path / "a", "--config", settings, "--users", "8", "--json")
    report = json.loads(run(log, *options))
    assert report["source"].startswith("own logs and a made-up world")
    fitted = report["requests"]["fitted"]
    assert len(fitted) == 7
    assert fitted["LaMP-7"] + report["requests"]["held_out"]["LaMP-7"] == 10
    assert fitted["LaMP-7, made up"] + report["requests"]["held_out"]["LaMP-7, made up"] == 10
    tasks = [row["task"] for row in report["measured"]["after"]]
    assert tasks[0] == "LaMP-7" and tasks[-2:] == ["LaMP-7, made up", "all"]


def test_errors_name_what_is_wrong(log: Path, settings: Path, tmp_path: Path) -> None:
    options = ("--out", tmp_path / "a", "--config", settings)
    with pytest.raises(ConfigError, match="one folder per task"):
        run(log, log, *options)
    settings.write_text("[lora]\nrnk = 3\n")
    with pytest.raises(UnknownNameError, match="did you mean 'rank'"):
        run(log, *options)
    settings.write_text('split = "tune"\n')
    with pytest.raises(DataError, match="no split 'dev'"):
        run(log, *options)
    assert not (tmp_path / "a").exists()
