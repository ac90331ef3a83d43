from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from enough.matching.neighbours import Cells, Numbers, Times

N, DIM, CLUSTERS = 100_000, 48, 400
ANYWHERE = 2.0  # no two vectors are further apart


class Counting:
    """Keeps what lies within a caliper and counts what it was shown."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.vectors, self.shown = vectors, 0
        self.query, self.least = vectors[0], 0.0

    def __call__(self, numbers: Numbers) -> Numbers:
        self.shown += len(numbers)
        cosines = (self.vectors[numbers] @ self.query).astype(np.float64)
        return np.asarray(numbers[cosines.round(6) >= self.least])  # as the matcher does


def clustered(count: int, seed: int = 0, noise: float = 0.6) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    middles = rng.normal(size=(CLUSTERS, DIM))
    vectors = middles[rng.integers(CLUSTERS, size=count)] + rng.normal(size=(count, DIM)) * noise
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors, np.float32)


def everything(numbers: Numbers) -> Numbers:
    return numbers


def test_a_hundred_thousand_records_are_searched_without_looking_at_them() -> None:
    vectors = clustered(N)
    started = time.perf_counter()
    cells = Cells.build(vectors, np.arange(N), seed=0)
    keep = Counting(vectors)
    queries = np.random.default_rng(1).choice(N, 2000, replace=False)
    found = []
    for number in queries:
        keep.query, keep.least = vectors[number], 0.5
        found.append(cells.around(keep.query, 0.5, 24, keep))
    seconds = time.perf_counter() - started
    assert keep.shown / len(queries) < 0.1 * N
    assert seconds < 30  # a few on an idle machine

    hits = wanted = 0
    for number, near in list(zip(queries, found, strict=True))[:200]:
        cosines = vectors @ vectors[number]
        true = [n for n in np.argsort(-cosines)[:4] if n != number and cosines[n] >= 0.5][:3]
        hits += len(set(true) & set(near.tolist()))
        wanted += len(true)
    assert wanted > 300
    assert hits / wanted >= 0.9


def test_for_a_record_that_is_rejected_only_cells_within_reach_are_looked_at() -> None:
    """There are too few acceptable ones, so the search ends when there is nowhere left to look."""
    vectors = clustered(N)
    cells = Cells.build(vectors, np.arange(N), seed=0)
    queries = np.random.default_rng(1).choice(N, 200, replace=False)
    shown, seconds = {}, {}
    for reach in (0.1, 0.7):
        keep = Counting(vectors)
        started = time.perf_counter()
        for number in queries:
            keep.query, keep.least = vectors[number], 1 - reach
            assert len(cells.around(keep.query, reach, N, keep)) < N
        seconds[reach] = (time.perf_counter() - started) / len(queries)
        shown[reach] = keep.shown / len(queries) / N
    assert shown[0.1] < 0.3
    assert shown[0.7] <= 1  # so wide a caliper rules out no cell: all is looked at, but once
    assert seconds[0.1] < 0.02  # about 1 ms, and 4 ms below
    assert seconds[0.7] < 0.2


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 400),
    noise=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    reach=st.sampled_from([0.0, 1e-6, 0.01, 0.1, 0.3, 0.7, 1.3, 2.0, math.inf]),
    enough=st.sampled_from([1, 12, 1000]),
)
def test_cells_beyond_reach_hold_nothing_acceptable(
    seed: int, count: int, noise: float, reach: float, enough: int
) -> None:
    vectors = clustered(count, seed, noise)
    cells = Cells.build(vectors, np.arange(count), seed=0)
    unpruned = replace(cells, radii=np.full(len(cells.radii), math.pi))
    keep = Counting(vectors)
    keep.least = 1 - reach
    for keep.query in vectors[:20]:
        found = cells.around(keep.query, reach, enough, keep)
        assert np.array_equal(found, unpruned.around(keep.query, reach, enough, keep))


def test_what_is_rare_is_found_however_far_and_nothing_is_seen_twice() -> None:
    vectors = clustered(2000)
    cells = Cells.build(vectors, np.arange(2000), seed=0)
    seen: list[int] = []

    def keep(numbers: Numbers) -> Numbers:
        seen.extend(numbers.tolist())
        return np.asarray(numbers[numbers == 1234])

    assert cells.around(vectors[7], ANYWHERE, 24, keep).tolist() == [1234]
    assert sorted(seen) == list(range(2000))


def test_cells_hold_only_what_was_put_in_and_are_the_same_again() -> None:
    vectors = clustered(500)
    some = np.arange(0, 500, 3)
    first, second = (Cells.build(vectors, some, seed=5) for _ in range(2))
    assert sorted(first.members.tolist()) == some.tolist()
    assert np.array_equal(first.members, second.members)
    assert np.array_equal(first.centres, second.centres)
    other = Cells.build(vectors, some, seed=6)
    assert not np.array_equal(first.members, other.members)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_or_no_vectors(count: int) -> None:
    vectors = clustered(3)
    cells = Cells.build(vectors, np.arange(count), seed=0)
    assert sorted(cells.around(vectors[2], ANYWHERE, 5, everything).tolist()) == list(range(count))


def test_equal_vectors_do_not_break_the_cells() -> None:
    vectors = np.repeat(clustered(1), 50, axis=0)
    cells = Cells.build(vectors, np.arange(50), seed=0)
    assert sorted(cells.around(vectors[0], 0, 50, everything).tolist()) == list(range(50))


def test_equal_times_come_first_then_the_nearest() -> None:
    times = np.array([2000.0, 2001, 2001, 2001, 2004, 2010, math.nan])
    line = Times.build(times, np.arange(7), seed=0)
    assert sorted(line.around(2001.0, 9, 0.4, 3, everything).tolist()) == [1, 2, 3]
    assert sorted(line.around(2001.0, 9, 0.4, 4, everything).tolist()) == [0, 1, 2, 3, 4, 5]
    assert sorted(line.around(2001.0, 3, 0.4, 9, everything).tolist()) == [0, 1, 2, 3, 4]
    assert line.around(math.nan, 9, 0.4, 9, everything).tolist() == [6]


def test_without_any_time_a_place_by_chance_decides() -> None:
    n = 30_000
    line = Times.build(np.full(n, math.nan), np.arange(n), seed=0)
    shown = 0

    def keep(numbers: Numbers) -> Numbers:
        nonlocal shown
        shown += len(numbers)
        return numbers

    rng = np.random.default_rng(0)
    found = [line.around(math.nan, 0.5, rng.random(), 3, keep)[:3] for _ in range(500)]
    assert shown <= 500 * 64
    assert len(np.unique(np.concatenate(found))) > 1400
    at_the_end = line.around(math.nan, 0.5, 0.99999, 3, everything)
    assert len(set(at_the_end.tolist())) == len(at_the_end) >= 3  # goes round


def test_times_look_further_for_what_is_rare_but_not_beyond_reach() -> None:
    n = 5000
    line = Times.build(np.arange(n, dtype=np.float64), np.arange(n), seed=0)
    seen: list[int] = []

    def keep(numbers: Numbers) -> Numbers:
        seen.extend(numbers.tolist())
        return np.asarray(numbers[numbers % 1000 == 0])

    assert sorted(line.around(2500.0, 1600.0, 0.0, 3, keep).tolist()) == [1000, 2000, 3000, 4000]
    assert len(seen) == len(set(seen)) <= 3201


@pytest.mark.parametrize("count", [0, 1])
def test_few_or_no_times(count: int) -> None:
    line = Times.build(np.full(2, 2000.0), np.arange(count), seed=0)
    assert line.around(2000.0, 1.0, 0.9, 3, everything).tolist() == list(range(count))
