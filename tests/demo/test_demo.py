"""The demonstration from end to end, with stand-ins for the models: every stage, every number."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.controller.model import ModelConfig
from enough.controller.optimisation import FitConfig
from enough.demo.config import DemoConfig
from enough.demo.run import BUNDLED, FALLBACK, OURS, WARM, run_demo
from enough.errors import ConfigError, DataError
from enough.generators.fake import FakeGenerator
from enough.labels.config import LabelConfig
from enough.labels.workers import Processes
from enough.progress import silent
from tests.retrieval.tiny import BagEncoder

QUICK = FitConfig(steps=10, requests=4, check_every=5)


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("enough.generators.hf.HFGenerator.load", lambda config: FakeGenerator())
    monkeypatch.setattr(
        "enough.evaluation.workshop.load_generator", lambda config, threads: FakeGenerator()
    )
    monkeypatch.setattr("enough.evaluation.workshop.load_fleet", lambda config: Processes(1))
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))


def small() -> DemoConfig:
    plain = DemoConfig()
    shape = ModelConfig(hidden=16, heads=2)
    training = dataclasses.replace(plain.train, start=None, model=shape, fit=QUICK)
    world = dataclasses.replace(plain.world, seed=0, users=12, requests_per_user=2)
    return dataclasses.replace(plain, world=world, train=training)


def test_every_stage(tmp_path: Path) -> None:
    config = dataclasses.replace(small(), kinds=("hindsight",), trees=2, oracle=1)
    told = run_demo(config, tmp_path, silent)
    lines = {line.selector: line for line in told.comparison.lines(told.point, "all")}
    names = {OURS, WARM, FALLBACK, "hindsight targets", "fixed k=0", "fixed k=3", "best fixed k"}
    assert names <= lines.keys()
    assert lines["fixed k=0"].root_stop == 1
    assert lines["fixed k=0"].net.mean == 0
    assert {line.selector for line in told.planted} == lines.keys()
    assert told.labelled[0][0] == told.labelled[1][0]
    assert told.labelled[0][1] <= told.labelled[1][1]
    assert set(told.held_out) == {OURS, WARM, "hindsight targets"}
    assert {row.selector for row in told.exact} >= {OURS, "exact oracle", "fixed k=4"}
    assert set(told.seconds) >= {"label", "train", "aggregate", "train again", "compare"}
    users = {row.user for row in told.comparison.rows(told.point)}
    trained_on = {tree["user"] for tree in _requests(tmp_path / "labels")}
    assert not users & trained_on, "nobody reported was learnt from"


def test_the_bundled_controller_stands_beside_them_as_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = run_demo(small(), tmp_path, silent)
    lines = {line.selector: line for line in told.comparison.lines(told.point, "all")}
    assert BUNDLED not in lines, "it was made with another encoder than this one"
    ours = told.trained[OURS]
    monkeypatch.setattr("enough.demo.run.default_controller", lambda **_: ours)
    again = run_demo(small(), tmp_path, silent)
    lines = {line.selector: line for line in again.comparison.lines(again.point, "all")}
    assert dataclasses.replace(lines[BUNDLED], selector=OURS, gap=lines[OURS].gap) == lines[OURS]
    assert BUNDLED in {line.selector for line in again.planted}


def _requests(labels: Path) -> list[dict[str, Any]]:
    from enough.labels.folder import LabelFolder

    return [dataclasses.asdict(t.of) for part in LabelFolder(labels).read() for t in part.trees]


def test_it_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_demo(small(), tmp_path, silent)

    def never(*_: object) -> FakeGenerator:
        raise AssertionError("everything was labelled already")

    monkeypatch.setattr("enough.evaluation.workshop.load_generator", never)
    again = run_demo(small(), tmp_path, silent)
    assert again.comparison.rows(again.point) == first.comparison.rows(first.point)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enough.demo.config.DemoConfig", small)
    monkeypatch.setattr("enough.cli.demo._one_request", lambda *_: "one request")
    result = CliRunner().invoke(app, ["demo"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "ENOUGH has" in result.stdout
    assert "one request" in result.stdout
    result = CliRunner().invoke(app, ["demo", "--json", "--seed", "1"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["verdict"].startswith("ENOUGH has")
    assert {line["selector"] for line in found["planted"]} >= {OURS, FALLBACK}


def test_too_few_people_to_choose_on(tmp_path: Path) -> None:
    few = dataclasses.replace(small(), world=dataclasses.replace(small().world, seed=7))
    with pytest.raises(DataError, match="no request in 'select' to compare on; give more users"):
        run_demo(few, tmp_path, silent)


def test_settings_that_make_no_sense() -> None:
    plain = DemoConfig()
    with pytest.raises(ConfigError, match=r"label\.split must be"):
        DemoConfig(label=dataclasses.replace(plain.label, split="train"))
    with pytest.raises(ConfigError, match="the same β and λ"):
        DemoConfig(label=LabelConfig(split="label"))
