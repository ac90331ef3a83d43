"""Two workers are nearly twice as fast as one, where a core is not the limit."""

from __future__ import annotations

from enough.bench.fleet import run_fleet_bench
from enough.fleet.config import EngineConfig
from enough.teacher.preparation import cases_of
from tests.labels.runs import small_config, small_dataset, small_stages


def test_two_processes_against_one() -> None:
    config = small_config()
    dataset = small_dataset(requests=16)
    cases = list(cases_of(dataset, dataset.splits["train"], small_stages(config)))
    found = run_fleet_bench(cases, config, EngineConfig(workers=2), 0.1)
    assert found.same_bytes
    assert found.chunks == 8
    assert found.calls > 16
    # 1.6 and more where nothing else runs; more than 2 where a busy moment hit one worker alone.
    assert found.ratio > 1.3
