"""Leaves chosen by a controller of the round before: it must be one for the same thing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from enough.controller.checkpoint import Trained, save_controller
from enough.controller.chooser import chooser_digest, load_chooser
from enough.controller.crossfit import crossfit_targets, plain_targets
from enough.controller.labelled import Labelled
from enough.controller.rollout import predicted_worth
from enough.controller.train_config import TrainConfig
from enough.errors import ConfigError, ModelError, UnknownNameError
from enough.labels.tree_files import Fingerprints
from enough.teacher.components import Scale, TargetConfig
from tests.controller.toy import controller, labelled

POINT = TargetConfig(0.3, 0.7)
TASKS = ("LaMP-7", "LaMP-4")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_with = Fingerprints("generator", "tokenizer", "bag")
    scales = {"LaMP-4": Scale(0.5, 0.25)}
    save_controller(
        tmp_path / "c", Trained(controller(), POINT, 0.8, scales, made_with, {"kind": "crossfit"})
    )
    return tmp_path / "c"


def test_the_same_thing_is_taken(folder: Path) -> None:
    assert load_chooser(folder, TASKS, "bag", POINT).point == POINT


@pytest.mark.parametrize(
    ("tasks", "encoder", "point", "said"),
    [
        (("LaMP-7",), "bag", POINT, r"the tasks LaMP-4, LaMP-7; this run has LaMP-7$"),
        (TASKS, "minilm", POINT, "the encoder bag; this run has minilm"),
        (TASKS, "bag", TargetConfig(0.4, 0.7), r"operating point beta 0\.3.*run has beta 0\.4"),
        (TASKS, "bag", TargetConfig(0.3, 0.1), r"lambda 0\.7; this run has .* lambda 0\.1"),
    ],
)
def test_anything_else_is_refused(
    folder: Path, tasks: tuple[str, ...], encoder: str, point: TargetConfig, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        load_chooser(folder, tasks, encoder, point)


def test_leaves_are_those_it_values_highest(folder: Path) -> None:
    chooser = load_chooser(folder, TASKS, "bag", POINT).model
    requests = [labelled(4, seed=seed) for seed in range(5)]
    rows = Labelled.of(requests, plain_targets(requests, POINT, "myopic")).rows
    worth = predicted_worth(chooser, requests, rows, POINT)
    found = crossfit_targets(requests, [chooser], POINT, None)
    for targets, value in zip(found, worth, strict=True):
        assert value[targets.leaf[0]] == value.max()
        assert (targets.best == targets.own[targets.leaf]).all()
    assert any(targets.leaf[0] != np.argmax(targets.own[:, 0]) for targets in found)


def test_its_digest_changes_with_it(folder: Path) -> None:
    before = chooser_digest(folder)
    path = folder / "controller.json"
    path.write_text(path.read_text().replace('"beta": 0.3', '"beta": 0.2'))
    assert chooser_digest(folder) != before
    path.unlink()
    with pytest.raises(ModelError, match="not a controller"):
        chooser_digest(folder)


def test_settings_that_do_not_go_together(folder: Path) -> None:
    with pytest.raises(ConfigError, match="chooser is for targets of the kind 'crossfit'"):
        TrainConfig(kind="hindsight", chooser=folder)
    with pytest.raises(UnknownNameError, match="did you mean 'myopic'"):
        TrainConfig(kind="myopc")  # type: ignore[arg-type]
