"""`enough train` from the outside: labels in, a controller out, with stand-ins for the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.controller.checkpoint import load_controller
from enough.errors import ConfigError, DataError
from tests.cli.test_label_cli import label, log, models  # noqa: F401 (fixtures)

SETTINGS = """
kind = "{kind}"
folds = 3
[fit]
steps = 30
requests = 8
check_every = 10
[model]
hidden = 16
heads = 2
"""


def train(labels: Path, log_folder: Path, out: Path, *arguments: object) -> str:
    options = ["train", labels, log_folder, "--out", out, *arguments]
    result = CliRunner().invoke(app, list(map(str, options)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from tests.retrieval.tiny import BagEncoder

    monkeypatch.setattr("enough.retrieval.encoders.load_encoder", BagEncoder)
    path = tmp_path / "train.toml"
    path.write_text(SETTINGS.format(kind="crossfit"))
    return path


@pytest.fixture
def labels(log: Path, tmp_path: Path) -> Path:  # noqa: F811
    label(log, "--out", tmp_path / "labels")
    return tmp_path / "labels"


@pytest.mark.parametrize("kind", ["crossfit", "hindsight", "myopic"])
def test_the_whole_way(
    labels: Path,
    log: Path,  # noqa: F811
    settings: Path,
    tmp_path: Path,
    kind: str,
) -> None:
    settings.write_text(SETTINGS.format(kind=kind))
    out = tmp_path / "controller"
    found: Any = json.loads(train(labels, log, out, "--config", settings, "--json"))
    assert found["kind"] == kind
    assert found["training_requests"] + found["selection_requests"] == 20
    pooled = found["selection"][-1]
    assert pooled["task"] == "all"
    assert pooled["gap"] == pytest.approx(pooled["promised"] - pooled["net"])
    assert pooled["net"] <= pooled["best"] + 1e-9
    loaded = load_controller(out, encoder="bag")
    assert loaded.report["kind"] == kind
    assert loaded.made_with.generator == "fake-1"


def test_the_table(labels: Path, log: Path, settings: Path, tmp_path: Path) -> None:  # noqa: F811
    shown = train(labels, log, tmp_path / "c", "--config", settings)
    assert "promised" in shown
    assert "LaMP-7" in shown


def test_errors_name_what_is_wrong(
    labels: Path,
    log: Path,  # noqa: F811
    settings: Path,
    tmp_path: Path,
) -> None:
    settings.write_text("folds = 2\n")
    with pytest.raises(ConfigError, match="folds must be at least 3"):
        train(labels, log, tmp_path / "c", "--config", settings)
    with pytest.raises(DataError, match="nowhere: there is no such folder"):
        train(tmp_path / "nowhere", log, tmp_path / "c")
    lines = (log / "train.jsonl").read_text().splitlines(keepends=True)
    (log / "train.jsonl").write_text("".join(lines[1:]))
    with pytest.raises(DataError, match="is not in the data given"):
        train(labels, log, tmp_path / "c")
    assert not (tmp_path / "c").exists()
