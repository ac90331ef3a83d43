"""The bench starts a real service, asks it, and stops it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from enough.cli import app


@pytest.mark.lm
def test_what_is_measured() -> None:
    result = CliRunner().invoke(
        app,
        [
            *("bench", "serve", "--requests", "6", "--users", "2", "--clients", "3"),
            *("--task", "LaMP-7", "--task", "LaMP-3", "--endurance", "5", "--json"),
        ],
    )
    assert result.exception is None, result.exception
    found = json.loads(result.stdout)
    assert (found["pool"], found["requests"], found["clients"]) == (20, 6, 3)
    assert (found["tasks"], found["users"]) == (["LaMP-7", "LaMP-3"], 2)
    assert found["failures"] == 0
    assert 0 < found["own_p50_ms"] <= found["client_p50_ms"]
    assert found["own_p50_ms"] <= found["own_p95_ms"]
    assert min(found["many_per_s"], found["one_per_s"], found["encoder_per_s"]) > 0
    assert found["ratio"] == pytest.approx(found["many_per_s"] / found["encoder_per_s"])
    assert found["usual_ratio"] == pytest.approx(found["many_per_s"] / found["usual_per_s"])
    assert 0 < found["client_cpu_ms"] < found["many_cpu_ms"]
    assert found["endurance"] == 5 and found["endurance_per_s"] > 0
    assert len(found["endurance_mb"]) == 4  # two and two and one, and before them
    assert min(found["endurance_mb"]) > 50
