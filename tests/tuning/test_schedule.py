"""Steps are functions of their number: order, passes, learning rate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from enough.protocols import ScoredSequence
from enough.tuning.schedule import Schedule, passes

SCHEDULE = Schedule(samples=21, batch=4, epochs=3, learning_rate=1.0, warmup=0.2, seed=1)


def test_every_epoch_sees_every_sample_once_in_its_own_order() -> None:
    assert SCHEDULE.steps == 18
    orders = []
    for epoch in range(3):
        steps = [SCHEDULE.members(6 * epoch + i) for i in range(6)]
        assert {found for found, _ in steps} == {epoch}
        assert [len(places) for _, places in steps] == [4, 4, 4, 4, 4, 1]
        orders.append(np.concatenate([places for _, places in steps]).tolist())
        assert sorted(orders[-1]) == list(range(21))
    assert orders[0] != orders[1] != orders[2]


def test_the_learning_rate_rises_and_falls() -> None:
    rates = [SCHEDULE.rate(step) for step in range(SCHEDULE.steps)]
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert rates[4] == 1.0
    assert all(later < earlier for earlier, later in pairwise(rates[4:]))
    assert 0 < rates[-1] < 0.02


def test_seeds_differ_by_step() -> None:
    seeds = {SCHEDULE.torch_seed(step) for step in range(100)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("max_tokens", [1, 60, 200, 10_000])
def test_passes_hold_everything_once_within_the_limit(max_tokens: int) -> None:
    lengths = [30, 5, 17, 90, 8, 8, 41, 12]
    sequences = [ScoredSequence(np.arange(n, dtype=np.int32), 2) for n in lengths]
    found = list(passes(sequences, max_tokens))
    assert sorted(len(s.tokens) for batch in found for s in batch) == sorted(lengths)
    for batch in found:
        size = len(batch) * max(len(s.tokens) for s in batch)
        assert size <= max_tokens or len(batch) == 1
    assert len(found) == (1 if max_tokens == 10_000 else len(found))
