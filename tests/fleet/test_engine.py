"""The engine's settings, its devices, and Ray as a command starts it."""

from __future__ import annotations

import builtins
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from enough.errors import ConfigError, MissingExtraError
from enough.fleet import devices, ray_cluster
from enough.fleet.config import EngineConfig
from enough.fleet.devices import device_names, placed
from enough.fleet.jobs import Failure, Feed
from enough.generators.config import GeneratorConfig
from enough.labels import machine
from enough.labels.config import LabelConfig
from enough.labels.machine import load_fleet
from enough.labels.ray_labels import RayFleet
from enough.labels.workers import Processes
from tests.labels.runs import SlowGenerator, small_config, small_run, small_stages


def test_one_worker_per_device_in_turn() -> None:
    assert placed(5, ["0", "1"]) == ["0", "1", "0", "1", "0"]
    assert placed(2, ["0", "1", "2"]) == ["0", "1"]
    assert placed(2, []) == [None, None]


def test_devices_are_those_this_process_may_see() -> None:
    assert device_names(2, None) == ("0", "1")
    assert device_names(2, "5, GPU-8a") == ("5", "GPU-8a")
    assert device_names(0, "") == ()


@pytest.mark.parametrize(
    ("device", "workers", "expected"),
    [
        (None, 0, Processes(3, ("0", "1", "2"))),  # one for each
        (None, 2, Processes(2, ("0", "1", "2"))),
        ("cuda:1", 0, Processes(1)),  # named: they all go there
        ("cuda:1", 2, Processes(2)),
        ("cpu", 4, Processes(4)),
    ],
)
def test_the_fleet_of_a_machine_with_three_gpus(
    monkeypatch: pytest.MonkeyPatch, device: str | None, workers: int, expected: Processes
) -> None:
    monkeypatch.setattr(machine, "devices_here", lambda: ("0", "1", "2"))
    config = LabelConfig(
        generator=GeneratorConfig(device=device), engine=EngineConfig(workers=workers)
    )
    assert load_fleet(config) == expected


def test_without_a_gpu_nothing_is_placed() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert devices.devices_here({}) == ()
    assert load_fleet(LabelConfig(engine=EngineConfig(workers=2))) == Processes(2)


def test_every_process_sees_its_own_device(tmp_path: Path) -> None:
    config = small_config()
    load = partial(Placed, tmp_path / "seen")
    small_run(tmp_path / "labels", config).run(
        partial(small_stages, config), load, Processes(3, ("4", "7"))
    )
    seen = sorted((tmp_path / "seen").read_text().split())
    assert set(seen) <= {"4", "7"}
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


class Placed(SlowGenerator):
    """Notes which device it sees."""

    def __init__(self, seen: Path) -> None:
        super().__init__()
        with seen.open("a") as file:
            file.write(f"{os.environ['CUDA_VISIBLE_DEVICES']}\n")


def test_the_engine_of_a_label_run() -> None:
    fleet = load_fleet(LabelConfig(engine=EngineConfig(kind="ray", workers=3)))
    assert isinstance(fleet, RayFleet)
    assert fleet.workers == 3


def test_labels_do_not_depend_on_the_engine() -> None:
    ray = LabelConfig(engine=EngineConfig(kind="ray", workers=64, gpus_per_worker=1.0))
    assert ray.of_likelihoods == LabelConfig().of_likelihoods


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"engine\.workers must be at least 0"):
        EngineConfig(workers=-1)
    with pytest.raises(ConfigError, match=r"Ray Client address"):
        EngineConfig(address="ray://head:10001")


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *arguments: Any) -> Any:
        if name == "ray":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'enough\[ray\]'"):
        ray_cluster.import_ray()


def test_room_for_workers() -> None:
    class Cluster:
        @staticmethod
        def cluster_resources() -> dict[str, float]:
            return {"CPU": 16.0, "GPU": 2.0}

    room = partial(ray_cluster.worker_room, Cluster)
    assert room(EngineConfig(cpus_per_worker=4)) == 4
    assert room(EngineConfig(gpus_per_worker=0.5)) == 4
    assert room(EngineConfig(gpus_per_worker=8)) == 1  # the cluster may grow
    assert room(EngineConfig(cpus_per_worker=0)) == 1


class Unreachable:
    """Stands for Ray where no cluster answers; the real one waits for minutes."""

    @staticmethod
    def is_initialized() -> bool:
        return False

    @staticmethod
    def init(address: str, **_: Any) -> None:
        raise ConnectionError(f"nobody at {address}")


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "import_ray", lambda: Unreachable)
    engine = EngineConfig(kind="ray", address="head:6379")
    with (
        pytest.raises(ConfigError, match=r"no Ray cluster at 'head:6379' \(nobody at head:6379\)"),
        ray_cluster.connected(engine),
    ):
        pass


def test_a_worker_that_never_fits_this_machine() -> None:
    with pytest.raises(ConfigError, match=r"asks for 1 GPU, this machine has 0"):
        ray_cluster._require_room({"CPU": 4.0}, EngineConfig(gpus_per_worker=1))


def test_jobs_are_made_ahead_but_not_all_at_once() -> None:
    made: list[int] = []

    def jobs() -> Any:
        for number in range(10):
            made.append(number)
            yield number

    feed = Feed(jobs(), ahead=2)
    assert feed.next_within(5.0) == 0
    feed.close()
    assert len(made) <= 4
    assert feed.next_within(0.0) is None
    assert feed.is_over


def test_an_error_in_making_jobs_reaches_who_asks() -> None:
    def jobs() -> Any:
        yield 1
        raise ConfigError("no such encoder")

    feed = Feed(jobs(), ahead=1)
    assert feed.next_within(5.0) == 1
    with pytest.raises(Exception, match="no such encoder"):
        feed.next_within(5.0)


def test_errors_travel_in_words() -> None:
    assert Failure.of(ConfigError("odd")) == Failure("odd", is_expected=True)
    failure = Failure.of(ValueError("bug"))
    assert not failure.is_expected
    assert "ValueError: bug" in failure.message
