"""A Ray that is started for one run, where none was seen before, and is gone after it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
from enough.fleet.config import EngineConfig
from enough.fleet.ray_cluster import connected, worker_room

engine = EngineConfig(kind="ray")
with connected(engine) as ray:
    assert ray.get(ray.remote(lambda: 41 + 1).remote()) == 42
    print("room for", worker_room(ray, engine))
print("left", ray.is_initialized())
"""


def test_it_starts_works_and_ends(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env={**kept, "HOME": str(tmp_path)},  # where it keeps a token
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if "timed out during startup" in done.stderr:
        pytest.skip("Ray did not start in time: this machine is too busy")
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first.startswith("room for ")
    assert last == "left False"
