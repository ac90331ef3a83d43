"""Training that begins with another controller's weights."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from enough.controller.beginning import begin
from enough.controller.bundled import locate_controller
from enough.controller.checkpoint import load_controller, save_controller
from enough.controller.train_config import TrainConfig
from enough.errors import ConfigError, ModelError, UnknownNameError
from enough.labels.tree_files import Fingerprints
from enough.tasks import LAMP_TASKS
from tests.controller.runs import CONFIG, small_labels, train_small
from tests.controller.toy import controller, labelled
from tests.online.test_fast_controller import trained


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_with = Fingerprints("generator", "tokenizer", "encoder")
    ours = dataclasses.replace(trained(controller()), made_with=made_with)
    save_controller(tmp_path / "first", ours)
    return tmp_path / "first"


def test_it_begins_where_the_other_ended(folder: Path) -> None:
    found = begin(TrainConfig(start=folder), [labelled()], "encoder")
    assert found.config == controller().config, "the shape is the other one's"
    assert list(found.tasks) == ["LaMP-4", "LaMP-7"], "and so are its tasks"
    for name, weight in controller().state_dict().items():
        assert torch.equal(found.state_dict()[name], weight)


def test_without_one_weights_are_fresh() -> None:
    found = begin(TrainConfig(), [labelled()], "encoder")
    assert (list(found.tasks), found.config.dim) == (["LaMP-7"], 64)
    assert not found.worth.any()


def test_what_does_not_fit_is_refused(folder: Path, tmp_path: Path) -> None:
    save_controller(tmp_path / "narrow", trained(controller(("LaMP-7",))))
    with pytest.raises(ConfigError, match="knows nothing of the task 'LaMP-4'"):
        begin(TrainConfig(start=tmp_path / "narrow"), [labelled(task="LaMP-4")], "")
    with pytest.raises(ModelError, match="encoder"):
        begin(TrainConfig(start=folder), [labelled()], "another")
    with pytest.raises(ModelError, match="not a controller"):
        begin(TrainConfig(start=folder / "nowhere"), [labelled()], "encoder")


def test_a_run_that_cannot_improve_keeps_what_it_began_with(tmp_path: Path) -> None:
    labels = small_labels(tmp_path / "labels")
    train_small(labels, tmp_path / "first")
    still = dataclasses.replace(CONFIG.fit, steps=1, learning_rate=1e-12)
    train_small(labels, tmp_path / "second", kind="myopic", start=tmp_path / "first", fit=still)
    before, after = (load_controller(tmp_path / name).model for name in ("first", "second"))
    for name, weight in before.state_dict().items():
        torch.testing.assert_close(after.state_dict()[name], weight)


@pytest.mark.parametrize("name", ["synthetic", "lamp"])
def test_the_bundled_ones_are_found_by_name_and_load(name: str) -> None:
    found = load_controller(locate_controller(Path(name)))
    assert set(found.scales) == set(LAMP_TASKS)
    assert set(found.scales) <= set(found.model.tasks)


def test_other_names_are_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("elsewhere").mkdir()
    assert locate_controller(Path("elsewhere")) == Path("elsewhere")
    assert locate_controller(Path("not/there")) == Path("not/there")
    with pytest.raises(UnknownNameError, match=r"controller 'lamb'; did you mean 'lamp'"):
        locate_controller(Path("lamb"))
