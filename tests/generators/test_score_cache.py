from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from enough.disk_cache import DiskCache, cache_key
from enough.errors import CacheError
from enough.generators.fake import FakeGenerator
from enough.generators.score_cache import CachedGenerator
from enough.protocols import OnBatch, ScoredSequence


class CountingGenerator(FakeGenerator):
    """Counts what reaches it, and hands results over one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.scored = 0

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        self.scored += len(sequences)
        scores = super().score(sequences)
        for i, score in enumerate(scores):
            if on_batch is not None:
                on_batch(np.array([i]), np.array([score]))
        return scores


def sequence(number: int) -> ScoredSequence:
    return ScoredSequence(np.array([1, 2, number, 1, number % 5], np.int32), 2)


def test_a_second_run_computes_nothing(tmp_path: Path) -> None:
    sequences = [sequence(i) for i in range(50)]
    first = CachedGenerator(CountingGenerator(), tmp_path / "scores.sqlite")
    expected = first.score(sequences)
    inner = CountingGenerator()
    again = CachedGenerator(inner, tmp_path / "scores.sqlite")
    np.testing.assert_array_equal(again.score(sequences), expected)
    assert (inner.scored, again.hits, again.misses) == (0, 50, 0)
    np.testing.assert_array_equal(expected, FakeGenerator().score(sequences))


def test_equal_sequences_are_computed_once_and_all_filled(tmp_path: Path) -> None:
    inner = CountingGenerator()
    cached = CachedGenerator(inner, tmp_path / "scores.sqlite")
    told: list[int] = []
    scores = cached.score(
        [sequence(3), sequence(4), sequence(3)], lambda where, _: told.extend(where.tolist())
    )
    assert inner.scored == 2
    assert scores[0] == scores[2]
    assert sorted(told) == [0, 1, 2]


def test_another_model_finds_nothing(tmp_path: Path) -> None:
    CachedGenerator(FakeGenerator(), tmp_path / "s").score([sequence(1)])
    other = CountingGenerator()
    other.fingerprint = "another"
    CachedGenerator(other, tmp_path / "s").score([sequence(1)])
    assert other.scored == 1


def test_the_split_between_prompt_and_reference_is_part_of_the_key(tmp_path: Path) -> None:
    inner = CountingGenerator()
    cached = CachedGenerator(inner, tmp_path / "s")
    tokens = np.array([1, 2, 3, 4], np.int32)
    cached.score([ScoredSequence(tokens, 1), ScoredSequence(tokens, 2)])
    assert inner.scored == 2


def test_key_parts_cannot_run_into_each_other() -> None:
    assert cache_key("ab", "c") != cache_key("a", "bc")


def test_a_damaged_entry_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    CachedGenerator(FakeGenerator(), path).score([sequence(1)])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE entry SET value = x'0000000000000000'")
    connection.close()
    with pytest.raises(CacheError, match=r"s\.sqlite: damaged entry; delete the file"):
        CachedGenerator(FakeGenerator(), path).score([sequence(1)])


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(CacheError, match=r"s\.sqlite: not a cache"):
        DiskCache(path)


def test_a_cache_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(CacheError, match="format 99"):
        DiskCache(path)


def test_a_fork_loses_nothing(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "s")
    cache.put_many({b"a" * 16: b"1"})
    child = os.fork()
    if child == 0:
        cache.put_many({b"b" * 16: b"2"})
        os._exit(0)
    os.waitpid(child, 0)
    cache.put_many({b"c" * 16: b"3"})
    cache.close()
    assert len(DiskCache(tmp_path / "s")) == 3


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE orders (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(CacheError, match="move the file away"):
        DiskCache(path)
    assert path.read_bytes() == before


WRITER = """
import sys
from collections.abc import Sequence
from pathlib import Path
from tests.generators.test_score_cache import CountingGenerator, sequence
from enough.generators.score_cache import CachedGenerator
cached = CachedGenerator(CountingGenerator(), Path(sys.argv[1]))
print("writing", flush=True)
start = int(sys.argv[2])
while True:
    cached.score([sequence(i) for i in range(start, start + 40)])
    start += 40
"""


def test_killed_writers_leave_only_true_scores(tmp_path: Path) -> None:
    """Two processes write at once; both are killed without warning, again and again."""
    path = tmp_path / "scores.sqlite"
    rng = random.Random(0)
    root = Path(__file__).parent.parent.parent
    for round_number in range(12):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(path), str(start)],
                stdout=subprocess.PIPE,
                cwd=root,
                env={**os.environ, "PYTHONPATH": str(root)},
            )
            for start in (round_number * 10_000, round_number * 10_000 + 20)  # overlapping work
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(rng.uniform(0, 0.25))
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
        cache = DiskCache(path)
        cache.check()
    assert len(cache) > 100
    inner = CountingGenerator()
    sequences = [
        sequence(i) for start in range(12) for i in range(start * 10_000, start * 10_000 + 200)
    ]
    scores = CachedGenerator(inner, path).score(sequences)
    assert inner.scored < len(sequences)
    np.testing.assert_array_equal(scores, FakeGenerator().score(sequences))
