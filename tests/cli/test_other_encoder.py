"""Another encoder than the default one, from labels to selections: everybody takes the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough import Enough, RetrievalConfig
from enough.cli import app
from enough.controller.checkpoint import load_controller
from enough.errors import DataError, ModelError
from enough.generators.fake import FakeTokenizer
from enough.generators.prompt_side import PromptSide
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder
from tests.cli.test_label_cli import log, models  # noqa: F401 (fixtures)
from tests.cli.test_train_cli import SETTINGS
from tests.retrieval.tiny import BagEncoder

OTHER = "somebody/encoder"
loaded: list[str] = []


@pytest.fixture(autouse=True)
def encoders(monkeypatch: pytest.MonkeyPatch, models: None) -> None:  # noqa: F811
    def load(name: str = "minilm") -> BagEncoder:
        loaded.append(name)
        if name == "gone/encoder":
            raise ModelError("no such encoder")
        return BagEncoder(name)

    loaded.clear()
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", load)
    side = PromptSide(FakeTokenizer(), 2000)
    monkeypatch.setattr("enough.generators.prompt_side.load_prompt_side", lambda _name: side)


def run(*arguments: object) -> Any:
    options = [*map(str, arguments), "--json"]
    result = CliRunner().invoke(app, options, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def labels(log: Path, tmp_path: Path) -> Path:  # noqa: F811
    settings = tmp_path / "settings.toml"
    text = settings.read_text().replace("[retrieval]", f'[retrieval]\nencoder = "{OTHER}"')
    settings.write_text(text)
    run("label", log, "--config", settings, "--out", tmp_path / "labels")
    return tmp_path / "labels"


@pytest.fixture
def trained(labels: Path, log: Path, tmp_path: Path) -> Path:  # noqa: F811
    loaded.clear()
    settings = tmp_path / "train.toml"
    settings.write_text(SETTINGS.format(kind="myopic"))
    run("train", labels, log, "--config", settings, "--out", tmp_path / "controller")
    return tmp_path / "controller"


def test_labels_are_made_with_it_and_matched_with_the_default_one(labels: Path) -> None:
    assert set(loaded) == {OTHER, "minilm"}
    made = LabelFolder(labels).made_with()
    assert made is not None
    assert made.encoder == OTHER
    assert LabelConfig.of_folder(LabelFolder(labels)).retrieval.encoder == OTHER


def test_whatever_learns_from_labels_takes_theirs(
    trained: Path,
    labels: Path,
    log: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    assert loaded == [OTHER]
    assert load_controller(trained).made_with.encoder == OTHER
    loaded.clear()
    run("price", trained, labels, log, "--lambda", "1", "--out", tmp_path / "dearer")
    assert loaded == [OTHER]
    run("aggregate", labels, trained, log, "--out", tmp_path / "both", "--workers", "1")
    made = LabelFolder(tmp_path / "both").made_with()
    assert made is not None
    assert made.encoder == OTHER


def test_whoever_selects_must_name_it(trained: Path) -> None:
    enough = Enough.load(trained, retrieval=RetrievalConfig(encoder=OTHER))
    assert enough is not None
    with pytest.raises(ModelError, match="encoder"):
        Enough.load(trained)


def test_another_place_but_no_other_encoder(
    labels: Path,
    log: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    settings = tmp_path / "train.toml"
    settings.write_text(SETTINGS.format(kind="myopic"))
    again = ("train", labels, log, "--config", settings, "--out", tmp_path / "c", "--encoder")
    with pytest.raises(DataError, match=f"made with another encoder .{OTHER}, not his/encoder"):
        run(*again, "his/encoder")
    with pytest.raises(ModelError, match=r"labels: was labelled with the encoder 'gone/encoder'"):
        run(*again, "gone/encoder")
    run(*again, OTHER)


def test_names_and_folders_are_the_same_however_they_are_spelt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert RetrievalConfig(encoder="minilm") == RetrievalConfig()
    (tmp_path / "study" / "encoder").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "study")
    spelt = ["encoder", "./encoder", "../study/encoder", str(tmp_path / "study" / "encoder")]
    found = {RetrievalConfig(encoder=one).encoder for one in spelt}
    assert found == {str(tmp_path / "study" / "encoder")}
    assert RetrievalConfig(encoder=spelt[0]).encoder_name == "encoder"
    assert RetrievalConfig(encoder=OTHER).encoder == OTHER
