"""Another price or habit without training: the same heads, weighed anew."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.controller.bundled import locate_controller
from enough.controller.checkpoint import load_controller, save_controller
from enough.controller.habit import Habit, HabitConfig
from enough.controller.labelled_folder import read_labelled
from enough.controller.pricing import priced
from enough.controller.train_run import recalibrated, recalibrated_on_others
from enough.errors import ConfigError, DataError
from enough.online.fast_controller import FastController
from tests.controller.runs import dataset, small_labels, train_small
from tests.online.test_batched_controller import lively, pools
from tests.online.test_fast_controller import trained
from tests.retrieval.tiny import BagEncoder


def test_values_are_the_same_heads_weighed_anew() -> None:
    before = trained(lively())
    after = priced(before, lambda_=5.0)
    assert after.point == dataclasses.replace(before.point, lambda_=5.0)
    assert before.trained_for == after.trained_for == before.point.lambda_
    assert priced(after, lambda_=9.0).trained_for == before.point.lambda_, "of the first training"
    [features] = pools(1)
    one, other = (FastController(each).start(features).values() for each in (before, after))
    np.testing.assert_array_equal(one.actions, other.actions)
    dearer = (5.0 - before.point.lambda_) * one.actions[:, 2]
    np.testing.assert_allclose(other.net, one.net - dearer, atol=1e-5)


def test_what_is_not_named_stays() -> None:
    before = load_controller(locate_controller(Path("lamp")))
    after = priced(before, trust=0.15)
    assert after.habit.config == dataclasses.replace(before.habit.config, trust=0.15)
    assert (after.habit.curves, after.point) == (before.habit.curves, before.point)
    alone = priced(before, trust=1.0, aversion=0.0)
    assert alone.habit.curves == {}, "nobody looks at them"


def test_what_cannot_be_is_refused() -> None:
    plain = trained(lively())
    assert plain.habit == Habit(HabitConfig())
    with pytest.raises(ConfigError, match="knows no average requests"):
        priced(plain, trust=0.5)
    with pytest.raises(ConfigError, match="single net head"):
        priced(trained(lively(single_head=True)), lambda_=1.0)
    with pytest.raises(ConfigError, match=r"habit\.trust must be above 0"):
        priced(load_controller(locate_controller(Path("lamp"))), trust=0.0)


def test_other_labels_are_refused(tmp_path: Path) -> None:
    labels = small_labels(tmp_path / "labels")
    train_small(labels, tmp_path / "trained")
    found, data = (
        load_controller(tmp_path / "trained"),
        read_labelled(labels, [dataset()], BagEncoder()),
    )
    assert recalibrated(found, data).stop_temperature == found.stop_temperature
    with pytest.raises(DataError, match="not the labels that the controller was trained on"):
        recalibrated(dataclasses.replace(found, scales={}), data)


def test_other_users_count_all_of_them(tmp_path: Path) -> None:
    """Fitted to everybody in the labels, not to a selection part; nothing else changes."""
    labels = small_labels(tmp_path / "labels")
    train_small(labels, tmp_path / "trained")
    found = load_controller(tmp_path / "trained")
    data = read_labelled(labels, [dataset()], BagEncoder(), scales=dict(found.scales))
    part, everybody = recalibrated(found, data), recalibrated_on_others(found, data)
    states = [one.report["stopping"]["states"] for one in (part, everybody)]
    assert states[0] < states[1]
    assert everybody.model is found.model
    assert everybody.point == found.point
    foreign = dataclasses.replace(data, made_with=dataclasses.replace(data.made_with, generator=""))
    with pytest.raises(DataError, match="another generator"):
        recalibrated_on_others(found, foreign)


def test_the_command_writes_a_controller_that_loads(tmp_path: Path) -> None:
    out = tmp_path / "dear"
    asked = ["price", "lamp", "--out", str(out), "--lambda", "1", "--lead", "0.2", "--json"]
    done = CliRunner().invoke(app, asked, catch_exceptions=False)
    before, after = load_controller(locate_controller(Path("lamp"))), load_controller(out)
    habit = after.habit.config
    assert json.loads(done.stdout) == {
        "folder": str(out),
        "lambda": 1.0,
        "trust": habit.trust,
        "lead": 0.2,
        "aversion": habit.aversion,
    }
    expected = priced(before, lambda_=1.0, lead=0.2)
    assert (after.point, after.habit) == (expected.point, expected.habit)
    assert (out / "controller.safetensors").read_bytes() == (
        locate_controller(Path("lamp")) / "controller.safetensors"
    ).read_bytes()
    with pytest.raises(ConfigError, match="is there already"):
        CliRunner().invoke(app, asked, catch_exceptions=False)
    nowhere = ["price", "lamp", "--out", str(out / "controller.json" / "inside")]
    with pytest.raises(ConfigError, match="cannot be written"):
        CliRunner().invoke(app, nowhere, catch_exceptions=False)


def test_a_copy_at_its_own_price_decides_alike(tmp_path: Path) -> None:
    before = trained(lively())
    save_controller(tmp_path, priced(before))
    after = load_controller(tmp_path)
    for features in pools(3):
        one, other = (FastController(each).start(features).values() for each in (before, after))
        np.testing.assert_array_equal(one.net, other.net)
