"""`enough plan` from the command line, on a made-up log and without any weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.errors import UnknownNameError
from enough.generators.fake import FakeGenerator, FakeTokenizer
from enough.generators.prompt_side import PromptSide
from tests.cli.tweets import write_small_log
from tests.retrieval.tiny import BagEncoder


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    side = PromptSide(FakeTokenizer(), 4096)
    monkeypatch.setattr("enough.generators.prompt_side.load_prompt_side", lambda model: side)
    monkeypatch.setattr("enough.generators.hf.HFGenerator.load", lambda config: FakeGenerator())
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_small_log(tmp_path)


def run(command: str, log: Path, *options: object) -> str:
    arguments = [command, str(log), "--config", str(log.parent / "settings.toml")]
    result = CliRunner().invoke(
        app, [*arguments, *map(str, options)], catch_exceptions=False, standalone_mode=False
    )
    return result.stdout


def plan(log: Path, *options: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("plan", log, "--json", *options))
    return found


def test_the_plan_comes_near_what_labelling_spends(log: Path, tmp_path: Path) -> None:
    found = plan(log, "--probe", "--sample", 20, "--gpu", "CPU")
    real = json.loads(run("label", log, "--out", tmp_path / "out", "--json"))
    assert found["requests"] == real["requests"] == 20
    for name in ("calls", "tokens", "profiles"):
        assert found[name] == pytest.approx(real["counts"][name], rel=0.3), name
    seconds = found["tokens"] / 890 + found["calls"] * 4.1e-5 + 20
    assert found["hours"] == pytest.approx(seconds / 3600)


def test_more_requests_more_weights_another_price(log: Path) -> None:
    small = plan(log)
    many = plan(log, "--requests", 2000)
    assert many["calls"] == pytest.approx(100 * small["calls"], rel=1e-3)
    large = plan(log, "--parameters", "8e9", "--price", 10)
    assert large["tokens"] == small["tokens"]
    assert large["tokens_per_s"] < small["tokens_per_s"] / 10
    assert large["cost"] == pytest.approx(10 * large["device_hours"])


def test_fewer_gains_fewer_calls(log: Path) -> None:
    assert plan(log, "--gain-share", 0)["calls"] < plan(log, "--gain-share", 1)["calls"]


def test_the_plan_in_words(log: Path) -> None:
    shown = run("plan", log, "--gpu", "A800", "--gpus", 2, "--starts", 3)
    assert "2 × A800" in shown
    assert "teacher calls" in shown
    assert "unknown: give --price" in shown
    assert "3 starts" in shown
    assert "searched without scoring" in shown


def test_an_unknown_device_is_told_at_once(log: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'H200'"):
        run("plan", log, "--gpu", "H20")
