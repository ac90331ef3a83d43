"""The bench runs, finds the same records in every way, and what it prints is consistent."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from enough.bench import storing
from enough.bench.plain_table import PlainTable
from enough.bench.storing import run_store_bench
from enough.cli import app
from enough.errors import ModelError
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.values import Owner


def test_what_is_measured() -> None:
    found = run_store_bench(users=2, records=150, dim=8, rounds=3)
    values = dataclasses.asdict(found)
    assert json.loads(json.dumps(values)) == values
    times = [value for name, value in values.items() if name.endswith("_ms")]
    assert len(times) == 10
    assert min(times) > 0
    assert found.ratio == pytest.approx(found.naive_p50_ms / found.cold_p50_ms)


def test_different_records_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainTable, "nearest", lambda *_: [])
    with pytest.raises(ModelError, match="cannot be compared"):
        run_store_bench(users=1, records=20, dim=4, rounds=2)


def test_the_command() -> None:
    options = ["--users", "1", "--records", "30", "--dim", "4", "--rounds", "2", "--json"]
    done = CliRunner().invoke(app, ["bench", "store", *options])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["records"] == 30


def test_ten_thousand_records_are_searched_in_ten_milliseconds(tmp_path: Path) -> None:
    """The best of several medians: other processes can only add time."""
    rng = np.random.default_rng(0)
    made_up = storing._MadeUp(rng.standard_normal((10_000, 384)).astype(np.float32))
    store = open_store(StoreConfig(str(tmp_path / "enough.sqlite")))
    owner = Owner("shop", "t", "ann")
    store.append(owner, [storing._record(owner, number) for number in range(10_000)], made_up)
    medians = []
    for _ in range(5):
        seconds = []
        for query in made_up.vectors[:20]:
            started = time.perf_counter()
            assert len(store.nearest(owner, query, made_up.fingerprint, 20)) == 20
            seconds.append(time.perf_counter() - started)
        medians.append(float(np.median(seconds)))
    assert min(medians) < 0.010
    store.close()
