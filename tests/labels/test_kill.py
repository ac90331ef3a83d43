"""Killed at any moment and run again, labelling ends with the same bytes and repeats nothing."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.labels.runs import digest

ROOT = Path(__file__).parent.parent.parent
KILLS = 20


def start(folder: Path, workers: int, log: Path, seconds: float) -> subprocess.Popen[bytes]:
    arguments = [str(folder), str(workers), str(log), str(seconds)]
    command = [sys.executable, "-m", "tests.labels.runs", *arguments]
    return subprocess.Popen(command, cwd=ROOT)


def finish(folder: Path, workers: int, log: Path) -> None:
    assert start(folder, workers, log, 0.0).wait(60) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_20_random_moments(tmp_path: Path, workers: int) -> None:
    finish(tmp_path / "whole", 1, tmp_path / "whole.log")
    calls_needed = len((tmp_path / "whole.log").read_text().splitlines())
    rng = random.Random(workers)
    folder, log = tmp_path / "killed", tmp_path / "killed.log"
    log.touch()
    interrupted = 0
    for _ in range(KILLS // 2):  # two values of `workers` make 20
        before = len(log.read_text().splitlines())
        process = start(folder, workers, log, 0.02)
        _wait_for_a_call(log, before, process)
        time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        interrupted += not (folder / "manifest.json").exists()
    assert interrupted >= KILLS // 4, "most kills must hit a run that is not finished"
    _wait_until_quiet(log)
    finish(folder, workers, log)
    assert digest(folder) == digest(tmp_path / "whole")
    made = Counter(log.read_text().splitlines())
    assert len(made) == calls_needed
    # A call that ended but was not yet on the disk is all a kill may cost, per worker.
    assert sum(made.values()) - len(made) <= KILLS // 2 * workers


def _wait_for_a_call(log: Path, before: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while len(log.read_text().splitlines()) == before and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def _wait_until_quiet(log: Path) -> None:
    """Workers end with the process that was killed, and nothing is written any more."""
    time.sleep(1.0)
    size = log.stat().st_size
    time.sleep(0.5)
    assert log.stat().st_size == size
