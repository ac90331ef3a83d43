"""A training run into a folder: what is in it, what a kill costs (nothing), what is refused."""

from __future__ import annotations

import dataclasses
import json
import logging
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from enough.controller.checkpoint import load_controller
from enough.controller.task_table import OTHER
from enough.controller.train_folder import TrainRun
from enough.controller.training import new_controller
from enough.errors import ConfigError, DataError, ModelError
from enough.run_folders import held_folder
from enough.teacher.components import TargetConfig
from tests.controller.runs import CONFIG, QUICK, small_labels, train_small
from tests.labels.runs import small_dataset
from tests.retrieval.tiny import BagEncoder

ROOT = Path(__file__).parent.parent.parent
STAGES = ["fold-1", "fold-2", "fold-3", "fit"]
FILES = [
    "controller.json",
    "controller.safetensors",
    "scalars.jsonl",
    "settings.json",
    *sorted(f"tensorboard/{stage}/events.out.tfevents" for stage in STAGES),
    "walks.json",
]


class Stopped(Exception):
    pass


def stop_at(stage: str, step: int) -> Any:
    def on_step(name: str, done: int, total: int, note: str = "") -> None:
        if (name, done) == (stage, step):
            raise Stopped

    return on_step


def content(folder: Path) -> dict[str, Any]:
    """Bytes of every file; of events what they say, for they have the time in them."""
    return {
        str(path.relative_to(folder)): scalars_in(path)
        if "tfevents" in path.name
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def scalars_in(path: Path) -> list[tuple[int, dict[str, float]]]:
    """The events of a TensorBoard file: records of length, checksum, data, checksum."""
    from tensorboardX.crc32c import crc32c
    from tensorboardX.proto.event_pb2 import Event

    raw, events, place = path.read_bytes(), [], 0
    while place < len(raw):
        length, check = struct.unpack_from("<QI", raw, place)
        data = raw[place + 12 : place + 12 + length]
        (data_check,) = struct.unpack_from("<I", raw, place + 12 + length)
        for part, found in ((raw[place : place + 8], check), (data, data_check)):
            crc = crc32c(part)
            assert found == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
        events.append(Event.FromString(data))
        place += 16 + length
    assert events[0].file_version == "brain.Event:2"
    return [
        (event.step, {value.tag: value.simple_value for value in event.summary.value})
        for event in events[1:]
    ]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "scalars.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_labels(tmp_path_factory.mktemp("labelled") / "labels")


@pytest.fixture(scope="module")
def trained(labels: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("trained") / "controller"
    return out, train_small(labels, out)


def test_labels_that_a_habit_cannot_use_are_refused_before_anything_is_fitted(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise DataError("off the retriever's order")

    monkeypatch.setattr("enough.controller.train_run.learn_habit", refused)
    told: list[str] = []
    with pytest.raises(DataError, match="off the retriever's order"):
        train_small(labels, tmp_path / "controller", lambda name, *_: told.append(name))
    assert not [name for name in told if "fit" in name]
    assert not (tmp_path / "controller").exists()


def test_what_is_in_the_folder(trained: tuple[Path, dict[str, Any]]) -> None:
    out, found = trained
    assert sorted(content(out)) == sorted(FILES)
    assert not out.with_name("controller.unfinished").exists()
    assert not [path for path in out.parent.iterdir() if path != out]
    assert found["training_requests"] + found["selection_requests"] == 24
    assert found["chooser"] == {"by": "folds", "folds": 3}
    walks = json.loads((out / "walks.json").read_text())
    assert sorted(walks) == sorted(f"LaMP-7/q{number}" for number in range(24))
    settings = json.loads((out / "settings.json").read_text())
    assert settings["made_with"]["encoder"] == "bag"
    assert settings["config"]["targets"] == {"beta": 0.4, "lambda": 0.1}
    for path in out.rglob("*.json*"):
        assert str(out.parent) not in path.read_text(), path.name
        assert "/tmp" not in path.read_text(), path.name


def test_it_loads_without_what_only_people_read(
    trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    out, found = trained
    shutil.copytree(out, tmp_path / "c")
    shutil.rmtree(tmp_path / "c" / "tensorboard")
    (tmp_path / "c" / "scalars.jsonl").unlink()
    (tmp_path / "c" / "settings.json").unlink()
    assert load_controller(tmp_path / "c").report["selection"] == found["selection"]


def test_scalars(trained: tuple[Path, dict[str, Any]]) -> None:
    out, _ = trained
    rows = rows_of(out)
    assert list(dict.fromkeys(row["stage"] for row in rows)) == STAGES
    common = {"stage", "step", "training/loss", "gradient_norm", "learning_rate"}
    for row in rows:
        parts = {"loss", "value", "rank", "stop"} if row["stage"] == "fit" else {"loss", "value"}
        assert set(row) == common | {f"selection/{part}" for part in parts}
    last = [row for row in rows if row["stage"] == "fit"]
    assert [row["step"] for row in last] == list(range(2, 2 * len(last) + 1, 2))
    weights = CONFIG.loss
    for row in last:
        total = row["selection/value"] + weights.rank * row["selection/rank"]
        total += weights.stop * row["selection/stop"]
        assert row["selection/loss"] == pytest.approx(total, rel=1e-5)
    rates = [row["learning_rate"] for row in last]
    assert rates == sorted(rates, reverse=True)
    assert 0 < rates[0] < QUICK.learning_rate


def test_tensorboard_has_the_same_scalars(trained: tuple[Path, dict[str, Any]]) -> None:
    out, _ = trained
    for stage in STAGES:
        events = scalars_in(out / "tensorboard" / stage / "events.out.tfevents")
        rows = [row for row in rows_of(out) if row.pop("stage") == stage]
        assert [step for step, _ in events] == [row.pop("step") for row in rows]
        for (_, found), row in zip(events, rows, strict=True):
            assert found == pytest.approx(row, rel=1e-6)  # events hold 32 bits


def test_without_tensorboard_there_are_json_lines(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with caplog.at_level(logging.INFO, "enough"):
        train_small(labels, tmp_path / "c", kind="hindsight")
    assert [r.message for r in caplog.records if "tensorboardX" in r.message] == [
        "tensorboardX is not installed: scalars go into scalars.jsonl only"
    ]
    assert {row["stage"] for row in rows_of(tmp_path / "c")} == {"fit"}
    assert not (tmp_path / "c" / "tensorboard").exists()


def test_progress_of_every_fold_and_the_fit(labels: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    threads: set[int] = set()

    def on_step(name: str, done: int, total: int, note: str = "") -> None:
        if "loss" in note:
            told.append((name, done, total))
            threads.add(torch.get_num_threads())

    before = torch.get_num_threads()
    train_small(labels, tmp_path / "c", on_step, fit=dataclasses.replace(QUICK, patience=99))
    assert threads == {1}
    assert torch.get_num_threads() == before
    names = [f"cross-fitting, fold {number} of 3" for number in (1, 2, 3)]
    steps = [2, 4, 6, 8, 10, 12, 12]
    assert told == [(name, step, 12) for name in [*names, "fitting"] for step in steps]


FOLD_2 = "cross-fitting, fold 2 of 3"


@pytest.mark.parametrize(
    "stops",
    [
        [("cross-fitting, fold 1 of 3", 2)],  # before anything was saved
        [(FOLD_2, 4)],  # just saved
        [(FOLD_2, 6), ("fitting", 2)],  # two kills, both between two savings
        [("fitting", 12)],  # after the last step
    ],
    ids=["at once", "saved", "twice", "at the end"],
)
def test_a_stopped_run_goes_on_to_the_same_bytes(
    labels: Path, tmp_path: Path, stops: list[tuple[str, int]]
) -> None:
    fit = dataclasses.replace(QUICK, patience=99)
    train_small(labels, tmp_path / "whole", fit=fit)
    for stage, step in stops:
        with pytest.raises(Stopped):
            train_small(labels, tmp_path / "stopped", stop_at(stage, step), fit=fit)
        assert not (tmp_path / "stopped").exists()
    first: dict[str, int] = {}

    def note(name: str, done: int, total: int, note: str = "") -> None:
        if "loss" in note:
            first.setdefault(name, done)

    train_small(labels, tmp_path / "stopped", note, fit=fit)
    stage, step = stops[-1]
    expected = step // 4 * 4 + 2  # states are saved every second look, so every fourth step
    assert first[stage] == min(expected, 12)
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


def test_waiting_is_kept(labels: Path, tmp_path: Path) -> None:
    """A fit that is ended by its patience, killed while it waits."""
    fit = dataclasses.replace(QUICK, learning_rate=2.0, patience=3, steps=40)
    train_small(labels, tmp_path / "whole", fit=fit, kind="hindsight")
    steps = [row["step"] for row in rows_of(tmp_path / "whole")]
    assert steps[-1] < 40
    for step in (steps[-2], steps[-1]):
        with pytest.raises(Stopped):
            stop = stop_at("fitting", step)
            train_small(labels, tmp_path / "stopped", stop, fit=fit, kind="hindsight")
    train_small(labels, tmp_path / "stopped", fit=fit, kind="hindsight")
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


def test_weights_that_a_variant_does_not_use(labels: Path, tmp_path: Path) -> None:
    fit = dataclasses.replace(QUICK, save_every=1)
    bare: dict[str, Any] = {
        "fit": fit,
        "kind": "myopic",
        "model": dataclasses.replace(CONFIG.model, features=False),
    }
    with pytest.raises(Stopped):
        train_small(labels, tmp_path / "stopped", stop_at("fitting", 4), **bare)
    train_small(labels, tmp_path / "stopped", **bare)
    train_small(labels, tmp_path / "whole", **bare)
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


def test_how_often_it_is_saved_changes_nothing(
    labels: Path, tmp_path: Path, trained: tuple[Path, dict[str, Any]]
) -> None:
    train_small(labels, tmp_path / "c", fit=dataclasses.replace(QUICK, save_every=1))
    assert content(tmp_path / "c") == content(trained[0])


def test_killed_for_good(labels: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.controller.runs", str(labels)]
    process = subprocess.Popen([*command, str(tmp_path / "killed")], cwd=ROOT)
    state = tmp_path / "killed.unfinished" / "fold-2.state.safetensors"
    deadline = time.monotonic() + 120
    while not state.exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "killed").exists()
    for name in ("killed", "whole"):
        subprocess.run([*command, str(tmp_path / name)], cwd=ROOT, check=True)
    assert content(tmp_path / "killed") == content(tmp_path / "whole")


def test_a_finished_run_is_found(labels: Path, trained: tuple[Path, dict[str, Any]]) -> None:
    out, found = trained
    before, loaded = content(out), list[BagEncoder]()
    assert train_small(labels, out, loaded=loaded) == found
    assert not loaded
    assert content(out) == before
    with pytest.raises(ConfigError, match=r"another setting of config\.seed \(0, now 1\)"):
        train_small(labels, out, seed=1)
    with pytest.raises(ConfigError, match=r"config\.targets\.lambda \(0\.1, now 0\.5\)"):
        train_small(labels, out, targets=TargetConfig(lambda_=0.5))
    assert content(out) == before


def test_an_unfinished_run_goes_on_with_its_own_settings_only(labels: Path, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        train_small(labels, tmp_path / "a", stop_at(FOLD_2, 6))
    with pytest.raises(ConfigError, match=r"another setting of config\.folds \(3, now 4\)"):
        train_small(labels, tmp_path / "a", folds=4)
    with pytest.raises(ConfigError, match=r"another setting of data\.LaMP-7"):
        TrainRun(labels, [small_dataset(users=12, requests=25)], CONFIG, tmp_path / "a").run(
            BagEncoder
        )
    manifest = (labels / "manifest.json").read_text()
    other = tmp_path / "other"
    shutil.copytree(labels, other)
    (other / "manifest.json").write_text(f"{manifest}\n")
    with pytest.raises(ConfigError, match="another setting of labels"):
        train_small(other, tmp_path / "a")
    state = tmp_path / "a.unfinished" / "fold-2.state.safetensors"
    state.write_bytes(state.read_bytes()[:100])
    with pytest.raises(DataError, match=r"fold-2\.state\.safetensors: cannot be read"):
        train_small(labels, tmp_path / "a")


def test_a_run_that_failed_before_its_first_fit_binds_nobody(labels: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="too few labelled users for 60 folds"):
        train_small(labels, tmp_path / "a", folds=60)
    train_small(labels, tmp_path / "a", kind="myopic")


def test_folders_that_cannot_be_trained_into(labels: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConfigError, match="no controller of `enough train`"):
        train_small(labels, tmp_path / "mine")
    with (
        held_folder(tmp_path / "busy.unfinished"),
        pytest.raises(ConfigError, match="another run is working into it"),
    ):
        train_small(labels, tmp_path / "busy")


def test_a_controller_of_the_round_before_chooses(
    labels: Path, tmp_path: Path, trained: tuple[Path, dict[str, Any]]
) -> None:
    warm, _ = trained
    found = train_small(labels, tmp_path / "c", chooser=warm)
    assert found["chooser"]["by"] == "controller"
    assert found["chooser"]["kind"] == "crossfit"
    assert {row["stage"] for row in rows_of(tmp_path / "c")} == {"fit"}  # no models of folds
    settings = (tmp_path / "c" / "settings.json").read_text()
    assert json.loads(settings)["chooser"] == found["chooser"]["digest"]
    assert str(warm) not in settings
    moved = shutil.copytree(warm, tmp_path / "moved")
    assert train_small(labels, tmp_path / "c", chooser=moved) == found  # the same controller
    with pytest.raises(ConfigError, match="another setting of chooser"):
        train_small(labels, tmp_path / "c")
    with pytest.raises(ConfigError, match=r"operating point .*0\.1; this run has .*0\.2$"):
        train_small(labels, tmp_path / "d", chooser=warm, targets=TargetConfig(lambda_=0.2))
    with pytest.raises(ModelError, match="not a controller"):
        train_small(labels, tmp_path / "d", chooser=tmp_path)


def test_blind_states_are_another_controller(labels: Path, tmp_path: Path) -> None:
    found = train_small(labels, tmp_path / "c", states="blind")
    assert json.loads((tmp_path / "c" / "settings.json").read_text())["config"]["states"] == "blind"
    with pytest.raises(ConfigError, match=r"another setting of config\.states"):
        train_small(labels, tmp_path / "c")
    whole = train_small(labels, tmp_path / "d")
    assert whole["selection"] != found["selection"]
    assert whole["stopping"]["states"] == found["stopping"]["states"], "judged on the same states"


def test_tasks_without_a_name(labels: Path, tmp_path: Path) -> None:
    train_small(labels, tmp_path / "c", fit=dataclasses.replace(CONFIG.fit, unnamed=0.3))
    found = load_controller(tmp_path / "c").model
    assert list(found.tasks) == ["LaMP-7", OTHER]
    fresh = new_controller(found.config, list(found.tasks), CONFIG.seed)
    assert (found.task.weight[1] != fresh.task.weight[1]).any(), "something was learnt for them"
    with pytest.raises(ConfigError, match="no place for other tasks"):
        plain = tmp_path / "plain"
        train_small(labels, plain)
        unnamed = dataclasses.replace(CONFIG.fit, unnamed=0.3)
        train_small(labels, tmp_path / "d", start=plain, fit=unnamed)
