"""`enough label` from the outside, with stand-ins for the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.generators.fake import FakeGenerator
from tests.cli.tweets import SETTINGS, write_small_log
from tests.retrieval.tiny import BagEncoder


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("enough.generators.hf.HFGenerator.load", lambda config: FakeGenerator())
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_small_log(tmp_path)


def label(log: Path, *arguments: object) -> str:
    options = ["label", log, "--config", log.parent / "settings.toml", *arguments]
    result = CliRunner().invoke(app, list(map(str, options)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_second_lambda_says_that_it_made_no_call(log: Path, tmp_path: Path) -> None:
    first: Any = json.loads(label(log, "--out", tmp_path / "out", "--json"))
    assert first["this_run"]["generator_calls"] > 0
    assert first["requests"] == 20
    second = label(log, "--out", tmp_path / "out", "--lambda", "1")
    assert " 0 generator calls, 0 profiles scored" in second
    assert "λ 1;" in second
    third = json.loads(label(log, "--out", tmp_path / "out", "--beta", "0", "--json"))
    assert third["this_run"]["generator_calls"] == 0
    assert third["targets"]["beta"] == 0
    assert third["counts"] == first["counts"]


def test_the_dry_run_comes_near_and_writes_nothing(log: Path, tmp_path: Path) -> None:
    estimate = json.loads(label(log, "--out", tmp_path / "out", "--dry-run", "--json"))
    assert not (tmp_path / "out").exists()
    real = json.loads(label(log, "--out", tmp_path / "out", "--json"))
    for name in ("calls", "tokens", "profiles"):
        assert estimate[name] == pytest.approx(real["counts"][name], rel=0.3), name
    files = list((tmp_path / "out").rglob("*.safetensors"))
    size = sum(path.stat().st_size for path in files)
    assert estimate["megabytes"] == pytest.approx(size / 1e6, rel=0.5)
    assert estimate["requests"] == 20


def test_the_dry_run_in_words(log: Path, tmp_path: Path) -> None:
    shown = label(log, "--out", tmp_path / "out", "--dry-run")
    assert "teacher calls" in shown
    assert "nothing was written" in shown


def test_errors_name_what_is_wrong(log: Path, tmp_path: Path) -> None:
    settings = log.parent / "settings.toml"
    settings.write_text("[search]\nwidht = 3\n")
    with pytest.raises(UnknownNameError, match="did you mean 'width'"):
        label(log, "--out", tmp_path / "out")
    settings.write_text("[targets]\nlambda = -1.0\n")
    with pytest.raises(ConfigError, match="lambda must be a number of at least 0"):
        label(log, "--out", tmp_path / "out")
    settings.write_text('split = "dev"\n')
    with pytest.raises(DataError, match="no split 'dev'"):
        label(log, "--out", tmp_path / "out")
    settings.write_text(SETTINGS)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        label(log, "--out", tmp_path / "file")
    assert not (tmp_path / "out").exists()
