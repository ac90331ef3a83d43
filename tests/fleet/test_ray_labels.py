"""Labelling on Ray: workers that are lost, runs that go on elsewhere."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from enough.errors import EnoughError
from enough.fleet.config import EngineConfig
from enough.labels.ray_labels import RayFleet
from enough.labels.scoring_calls import CallReport
from enough.labels.workers import Processes
from enough.labels.workplace import ChunkDone, Event
from enough.run_folders import read_json
from tests.fleet.test_contract import label
from tests.labels.runs import SlowGenerator, digest

pytestmark = pytest.mark.usefixtures("two_cpus")
TWO = EngineConfig(kind="ray", workers=2)


class Logged(SlowGenerator):
    """Also says which process made a call."""

    def __init__(self, log: Path, pids: Path, seconds: float) -> None:
        super().__init__(log, seconds)
        pids.mkdir(exist_ok=True)
        (pids / str(os.getpid())).touch()


def fresh(events: list[Event]) -> int:
    return sum(e.profiles for e in events if isinstance(e, CallReport) and not e.from_journal)


def test_a_killed_worker_costs_one_call_and_no_label(tmp_path: Path) -> None:
    label(tmp_path / "alone", Processes(1))
    log, pids = tmp_path / "calls", tmp_path / "pids"
    log.touch()
    killed: list[int] = []

    def kill() -> None:
        while len(log.read_text().splitlines()) < 6:
            time.sleep(0.01)
        killed.append(int(min(pids.iterdir()).name))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    told = label(tmp_path / "ray", RayFleet(TWO), partial(Logged, log, pids, 0.05))
    killer.join()
    assert digest(tmp_path / "ray") == digest(tmp_path / "alone")
    assert not (tmp_path / "ray" / "journal").exists()
    assert len(list(pids.iterdir())) == 3, "another worker took the place of the lost one"
    # Counted once, whoever made it, and nothing that a lost worker had told of was made again.
    assert fresh(told) == read_json(tmp_path / "ray" / "manifest.json")["counts"]["calls"]
    assert sum(e.requests for e in told if isinstance(e, ChunkDone)) == 6
    made = Counter(log.read_text().splitlines())
    assert sum(made.values()) - len(made) <= 1


def test_a_run_that_was_stopped_goes_on_with_another_engine(tmp_path: Path) -> None:
    whole = fresh(label(tmp_path / "alone", Processes(1)))
    log = tmp_path / "calls"
    load = partial(Breaking, log)
    with pytest.raises(EnoughError, match="enough for today"):
        label(tmp_path / "both", RayFleet(TWO), load)
    assert any((tmp_path / "both" / "journal").iterdir())
    rest = label(tmp_path / "both", Processes(1))
    assert digest(tmp_path / "both") == digest(tmp_path / "alone")
    assert 0 < fresh(rest) < whole
    assert any(isinstance(event, CallReport) and event.from_journal for event in rest)


class Breaking(SlowGenerator):
    """Ends with an error in its fifth call."""

    def score(self, *arguments: Any) -> Any:
        if self.calls == 4:
            raise EnoughError("enough for today")
        return super().score(*arguments)


def test_workers_that_die_again_and_again_end_the_run(tmp_path: Path) -> None:
    with pytest.raises(EnoughError, match=r"3 workers were lost one after the other"):
        label(tmp_path, RayFleet(EngineConfig(kind="ray", workers=1)), _die)


def _die() -> Any:
    os._exit(1)
