"""Killed at any moment and run again, labelling ends with the same bytes and repeats nothing."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from tests.labels.runs import digest

ROOT = Path(__file__).parent.parent.parent
PARTS = 3
Moment = Literal["start", "call", "end"]


def start(folder: Path, workers: int, log: Path, seconds: float) -> subprocess.Popen[bytes]:
    arguments = [str(folder), str(workers), str(log), str(seconds)]
    command = [sys.executable, "-m", "tests.labels.runs", *arguments]
    return subprocess.Popen(command, cwd=ROOT)


def finish(folder: Path, workers: int, log: Path) -> None:
    assert start(folder, workers, log, 0.0).wait(60) == 0


# With four other kills each and twelve below these make 32.
@pytest.mark.parametrize(("workers", "calls"), [(1, 7), (2, 5)])
def test_killed_at_random_moments(tmp_path: Path, workers: int, calls: int) -> None:
    finish(tmp_path / "whole", 1, tmp_path / "whole.log")
    calls_needed = len((tmp_path / "whole.log").read_text().splitlines())
    rng = random.Random(workers)
    folder, log = tmp_path / "killed", tmp_path / "killed.log"
    log.touch()
    interrupted = 0
    during: list[Moment] = ["call"] * calls
    moments: list[Moment] = ["start", "start", *during, "end", "start"]
    for moment in moments:
        process = start(folder, workers, log, 0.02)
        kill(process, moment, folder, log, rng)
        interrupted += not (folder / "manifest.json").exists()
    assert interrupted >= len(moments) // 2, "most kills must hit a run that is not finished"
    _wait_until_quiet(log)
    finish(folder, workers, log)
    assert digest(folder) == digest(tmp_path / "whole")
    made = Counter(log.read_text().splitlines())
    assert len(made) == calls_needed
    # A call that ended but was not yet on the disk is all a kill may cost, per worker.
    assert sum(made.values()) - len(made) <= len(moments) * workers


def test_killed_while_manifest_and_targets_are_written(tmp_path: Path) -> None:
    whole, log = tmp_path / "whole", tmp_path / "log"
    finish(whole, 1, log)
    rng = random.Random(0)
    hit = 0
    for round_ in range(6):
        folder = tmp_path / f"killed-{round_}"
        shutil.copytree(whole, folder)
        (folder / "manifest.json").unlink()
        shutil.rmtree(folder / "targets")
        max((folder / "trees").iterdir()).unlink()  # the last part is still to come
        process = start(folder, 1, log, 0.0)
        hit += kill(process, "end", folder, log, rng)
        process = start(folder, 1, log, 0.0)  # nothing but the end is left to be done
        hit += kill(process, "start", folder, log, rng)
        finish(folder, 1, log)
        assert digest(folder) == digest(whole)
    assert hit, "no kill was in time"


def test_what_a_kill_left_half_written_is_written_again(tmp_path: Path) -> None:
    whole, begun, ended = tmp_path / "whole", tmp_path / "begun", tmp_path / "ended"
    finish(whole, 1, tmp_path / "log")
    begun.mkdir()
    (begun / "settings.json.part").write_bytes(b"{")
    shutil.copytree(whole, ended)
    (ended / "manifest.json").rename(ended / "manifest.json.part")
    for folder in (begun, ended):
        finish(folder, 1, tmp_path / "log")
        assert digest(folder) == digest(whole)


def kill(
    process: subprocess.Popen[bytes], moment: Moment, folder: Path, log: Path, rng: random.Random
) -> bool:
    """Kill it at such a moment; whether it was still running then."""
    if moment == "call":
        before = log.stat().st_size
        _wait_for(lambda: log.stat().st_size > before, process)
        time.sleep(rng.uniform(0, 0.1))
    elif moment == "end":
        _wait_for(lambda: len(list(folder.glob("trees/*.safetensors"))) == PARTS, process)
        time.sleep(0.03 * rng.random() ** 2)  # writing it all takes about 10 ms
    else:  # imports, reading, preparing
        time.sleep(rng.uniform(0, 0.6))
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def _wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Or for the end of the process, where there was nothing left to do."""
    deadline = time.monotonic() + 60
    while not condition() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def _wait_until_quiet(log: Path) -> None:
    """Workers end with the process that was killed, and nothing is written any more."""
    time.sleep(1.0)
    size = log.stat().st_size
    time.sleep(0.5)
    assert log.stat().st_size == size
