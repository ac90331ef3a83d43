"""What every fleet owes a labelling run, whoever does the work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from enough.errors import EnoughError
from enough.fleet.config import EngineConfig
from enough.labels.folder import LabelFolder
from enough.labels.ray_labels import RayFleet
from enough.labels.scoring_calls import CallReport
from enough.labels.workers import Processes
from enough.labels.workplace import ChunkDone, Event, Fleet
from enough.run_folders import read_json
from tests.labels.runs import SlowGenerator, digest, small_config, small_run, small_stages

pytestmark = pytest.mark.usefixtures("two_cpus")
FLEETS: dict[str, Callable[[], Fleet]] = {
    "one process": lambda: Processes(1),
    "processes": lambda: Processes(2),
    "ray": lambda: RayFleet(EngineConfig(kind="ray", workers=2)),
}


@pytest.fixture(params=FLEETS)
def fleet(request: pytest.FixtureRequest) -> Fleet:
    return FLEETS[request.param]()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    label(folder, Processes(1))
    return folder


def label(folder: Path, fleet: Fleet, load: Any = SlowGenerator) -> list[Event]:
    config, events = small_config(), list[Event]()
    small_run(folder, config).run(partial(small_stages, config), load, fleet, events.append)
    return events


def test_the_same_bytes_and_everything_told_once(fleet: Fleet, alone: Path, tmp_path: Path) -> None:
    told = label(tmp_path / "labels", fleet)
    assert digest(tmp_path / "labels") == digest(alone)
    assert sum(event.requests for event in told if isinstance(event, ChunkDone)) == 6
    calls = [event for event in told if isinstance(event, CallReport)]
    assert not any(call.from_journal for call in calls)
    counts = read_json(tmp_path / "labels" / "manifest.json")["counts"]
    assert sum(call.profiles for call in calls) == counts["calls"]
    assert sum(call.tokens for call in calls) == counts["tokens"]
    assert fleet.workers in (1, 2)


def test_only_what_is_missing_is_made(fleet: Fleet, alone: Path, tmp_path: Path) -> None:
    label(tmp_path / "labels", Processes(1))
    LabelFolder(tmp_path / "labels").parts()[1].unlink()
    told = label(tmp_path / "labels", fleet)
    assert digest(tmp_path / "labels") == digest(alone)
    assert [event.requests for event in told if isinstance(event, ChunkDone)] == [2]


def test_an_error_of_a_worker_is_told(fleet: Fleet, tmp_path: Path) -> None:
    with pytest.raises(EnoughError, match="no such thing as a generator"):
        label(tmp_path, fleet, _missing)


def _missing() -> Any:
    raise EnoughError("no such thing as a generator")


def test_a_bug_keeps_its_traceback(fleet: Fleet, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="modulo by zero"):
        label(tmp_path, fleet, _broken)


def _broken() -> Any:
    return 1 // 0


def test_another_generator_is_refused(fleet: Fleet, tmp_path: Path) -> None:
    label(tmp_path, Processes(1))
    LabelFolder(tmp_path).parts()[0].unlink()
    with pytest.raises(EnoughError, match="not the one that made the labels"):
        label(tmp_path, fleet, Other)


class Other(SlowGenerator):
    """What other weights would be."""

    def __init__(self) -> None:
        super().__init__()
        self.fingerprint = "another"
