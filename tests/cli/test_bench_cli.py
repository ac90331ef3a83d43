from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.controller.checkpoint import save_controller
from enough.errors import ModelError
from tests.controller.toy import controller
from tests.online.test_fast_controller import trained
from tests.retrieval.tiny import BagEncoder

TINY = ["bench", "select", "--requests", "4", "--pool", "4", "--max-records", "2"]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*TINY, *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enough.bench.selecting.load_encoder", BagEncoder)


@pytest.fixture
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise ModelError("no such model")

    monkeypatch.setattr("enough.bench.selecting.load_encoder", refuse)


def test_json(encoder: None) -> None:
    measured = json.loads(run("--json", "--seed", 3))
    assert (measured["requests"], measured["pool"], measured["max_records"]) == (4, 4, 2)
    for name in ("p50_ms", "p95_ms", "module_p50_ms", "ratio", "decisions_per_s", "encode_p50_ms"):
        assert measured[name] > 0, name
    assert measured["cores"] >= 1
    assert measured["numpy"]


def test_a_table_and_no_encoder(no_encoder: None) -> None:
    shown = run()
    for words in ("Selecting 2 of 4 records", "training module", "no encoder: no such model"):
        assert words in shown


def test_a_trained_controller_of_other_tasks(no_encoder: None, tmp_path: Path) -> None:
    save_controller(tmp_path / "c", trained(controller(("my-log",))))
    measured = json.loads(run("--controller", tmp_path / "c", "--json"))
    assert measured["dim"] == 64
    assert measured["encode_p50_ms"] is None
    assert measured["encode_reason"] == "no such model"
