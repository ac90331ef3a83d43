"""`enough tune-encoder` from the outside, with tiny stand-ins for the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.errors import ConfigError
from enough.generators.fake import FakeGenerator
from tests.cli.tweets import write_talkers_log
from tests.retrieval.tiny import WORDS, save_bert


@pytest.fixture(autouse=True)
def generator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("enough.generators.loading.load_configured", lambda _: FakeGenerator())
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    base = save_bert(tmp_path / "bert")
    path = tmp_path / "tune.toml"
    path.write_text(
        'split = "train"\nheld_out = 0.3\nepochs = 1\nmax_length = 16\n'
        f'[retrieval]\nencoder = "{base}"\n'
    )
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_talkers_log(tmp_path, WORDS)


def run(*arguments: object) -> str:
    options = ["tune-encoder", *map(str, arguments)]
    result = CliRunner().invoke(app, options, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_log(log: Path, settings: Path, tmp_path: Path) -> None:
    out = tmp_path / "encoder"
    report: Any = json.loads(run(log, "--out", out, "--config", settings, "--json"))
    assert (report["base"], report["source"]) == ("bert", "own logs")
    assert report["requests"] == {"fitted": {"LaMP-7": 14}, "held_out": {"LaMP-7": 6}}
    told = " ".join(run(log, "--out", out, "--config", settings).split())
    assert "The record most like the request" in told
    assert f"The encoder is in {out}." in told.replace("\n", "")


def test_likelihoods_are_remembered(
    log: Path, settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Counting(FakeGenerator):
        def score(self, sequences: Any, on_batch: Any = None) -> Any:
            asked.append(len(sequences))
            return super().score(sequences, on_batch)

    monkeypatch.setattr("enough.generators.loading.load_configured", lambda _: Counting())
    first: Any = json.loads(run(log, "--out", tmp_path / "a", "--config", settings, "--json"))
    assert sum(asked) == 20 * 5  # no record, and each of four
    asked.clear()
    second: Any = json.loads(run(log, "--out", tmp_path / "b", "--config", settings, "--json"))
    assert sum(asked) == 0
    assert second["measured"] == first["measured"]


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_scored(
    log: Path, settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(_: Any) -> FakeGenerator:
        raise AssertionError("no generator was needed yet")

    monkeypatch.setattr("enough.generators.loading.load_configured", nobody)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        run(log, "--out", tmp_path / "file" / "encoder", "--config", settings)


def test_made_up_people(settings: Path, tmp_path: Path) -> None:
    options = ["--users", "LaMP-7=4", "--out", tmp_path / "encoder", "--config", settings, "--json"]
    report: Any = json.loads(run(*options))
    assert "seed 1000033" in report["source"]
    assert set(report["requests"]["fitted"]) == {"LaMP-7"}


def test_people_and_data_are_two_things(log: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give one of both"):
        run(log, "--users", "4", "--out", tmp_path / "encoder")
