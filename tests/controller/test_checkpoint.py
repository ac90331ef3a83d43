"""A controller on disk: it comes back as it was, and anything wrong with it is said."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from enough.controller.checkpoint import Trained, load_controller, save_controller
from enough.controller.features import STATIC
from enough.controller.rollout import roll_out
from enough.errors import ModelError
from enough.labels.tree_files import Fingerprints
from enough.teacher.components import Scale, TargetConfig
from tests.controller.toy import controller, features

MADE_WITH = Fingerprints("generator", "tokenizer", "encoder")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trained = Trained(
        controller(),
        TargetConfig(0.3, 0.7),
        0.8,
        {"LaMP-4": Scale(0.5, 0.25)},
        MADE_WITH,
        {"steps": 10},
    )
    save_controller(tmp_path / "c", trained)
    return tmp_path / "c"


def test_it_comes_back_as_it_was(folder: Path) -> None:
    found = load_controller(folder, encoder="encoder")
    assert (found.point, found.stop_temperature) == (TargetConfig(0.3, 0.7), 0.8)
    assert found.scales == {"LaMP-4": Scale(0.5, 0.25)}
    assert (found.made_with, found.report) == (MADE_WITH, {"steps": 10})
    for one, other in zip(found.model.parameters(), controller().parameters(), strict=True):
        assert torch.equal(one, other)
    pools = [features(n, seed=n) for n in (2, 4)]
    assert roll_out(found.model, pools, found.point) == roll_out(controller(), pools, found.point)


def test_saving_twice_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    save_controller(tmp_path / "d", load_controller(folder))
    for name in ("controller.safetensors", "controller.json"):
        assert (tmp_path / "d" / name).read_bytes() == (folder / name).read_bytes()


def test_another_encoder_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="vectors of another encoder"):
        load_controller(folder, encoder="minilm")


def test_another_tokenizer_is_refused(folder: Path) -> None:
    assert load_controller(folder, encoder="encoder", tokenizer="tokenizer")
    with pytest.raises(ModelError, match=r"another tokenizer \(tokenizer, not words\); name the"):
        load_controller(folder, tokenizer="words")


@pytest.mark.parametrize("key", ["features", "model", "tasks", "beta", "made_with", "sha256"])
def test_settings_that_lack_something_are_refused(folder: Path, key: str) -> None:
    path = folder / "controller.json"
    settings = json.loads(path.read_text())
    del settings[key]
    path.write_text(json.dumps(settings))
    with pytest.raises(ModelError, match=r"controller.json: damaged"):
        load_controller(folder)


@pytest.mark.parametrize(("key", "value"), [("stop_temperature", 0), ("lambda", float("nan"))])
def test_numbers_that_cannot_be_are_refused(folder: Path, key: str, value: float) -> None:
    path = folder / "controller.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(ModelError, match=r"controller.json: damaged"):
        load_controller(folder)


def test_altered_weights_are_refused(folder: Path) -> None:
    path = folder / "controller.safetensors"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(bytes(raw))
    with pytest.raises(ModelError, match="altered"):
        load_controller(folder)


@pytest.mark.parametrize(
    ("change", "said"), [({"format": 9}, "format 9"), ({"features": ["x"]}, r"does not have \(x\)")]
)
def test_other_versions_are_refused(folder: Path, change: dict[str, object], said: str) -> None:
    path = folder / "controller.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ModelError, match=said):
        load_controller(folder)


def test_one_that_knew_fewer_features_makes_nothing_of_the_others(folder: Path) -> None:
    """As an older version wrote it: without the first and the fourth, in another order."""
    model, raw = controller(), load_file(folder / "controller.safetensors")
    kept = [name for i, name in enumerate(STATIC) if i not in (0, 3)][::-1]
    places = [STATIC.index(name) for name in kept]
    old = dict(raw) | {
        name: raw[name][:, places].contiguous() for name in ("static.weight", "worth")
    }
    save_file(old, folder / "controller.safetensors")
    path = folder / "controller.json"
    digest = hashlib.sha256((folder / "controller.safetensors").read_bytes()).hexdigest()
    changed = {"features": kept, "sha256": digest}
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    found = load_controller(folder)
    with torch.no_grad():
        model.static.weight[:, [0, 3]] = 0
        model.worth[:, [0, 3]] = 0
    pools = [features(n, seed=n) for n in (2, 4)]
    assert roll_out(found.model, pools, found.point) == roll_out(model, pools, found.point)


def test_a_folder_without_a_controller_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a controller"):
        load_controller(tmp_path)


def test_nothing_is_pickled(folder: Path) -> None:
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".safetensors"]
