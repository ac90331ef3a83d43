"""The embedding cache computes nothing twice, shares its file, and notices damage."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from enough.disk_cache import DiskCache
from enough.errors import CacheError
from enough.protocols import Floats
from enough.retrieval import embedding_cache
from enough.retrieval.embedding_cache import CachedEncoder
from enough.retrieval.encoders import load_encoder
from enough.retrieval.recently_used import RecentlyUsed
from tests.retrieval.tiny import BagEncoder, save_bert

TEXTS = ["w1 w2", "w3", "w1 w2", "", "\ud800 {x}", "w3"]


def test_a_second_call_and_a_second_run_compute_nothing(tmp_path: Path) -> None:
    bag = BagEncoder()
    cached = CachedEncoder(bag, tmp_path / "e.sqlite")
    first = cached.encode(TEXTS, "document")
    assert sorted(bag.seen) == sorted(set(TEXTS))  # nor twice within the call
    assert np.array_equal(first, BagEncoder().encode(TEXTS, "document"))
    assert np.array_equal(cached.encode(TEXTS[::-1], "document"), first[::-1])
    later = CachedEncoder(bag, tmp_path / "e.sqlite")  # nothing in memory yet
    assert np.array_equal(later.encode(TEXTS, "document"), first)
    assert bag.calls == 1
    later.encode([*TEXTS, "new"], "document")
    assert bag.seen[-1:] == ["new"]


def test_kinds_and_encoders_do_not_mix(tmp_path: Path) -> None:
    one, other = BagEncoder("one"), BagEncoder("other")
    for bag in (one, other):
        cached = CachedEncoder(bag, tmp_path / "e.sqlite")
        cached.encode(["w1"], "query")
        cached.encode(["w1"], "document")
        assert cached.fingerprint == bag.fingerprint
        assert bag.calls == 2


def test_cached_vectors_are_bit_for_bit_those_of_the_encoder(tmp_path: Path) -> None:
    encoder = load_encoder(str(save_bert(tmp_path / "bert")), "cpu", precision="float32")
    fresh = CachedEncoder(encoder, tmp_path / "e.sqlite").encode(["w1 w2", "w3"], "query")
    stored = CachedEncoder(encoder, tmp_path / "e.sqlite").encode(["w3", "w1 w2"], "query")
    assert np.array_equal(fresh, stored[::-1])
    np.testing.assert_allclose(fresh, encoder.encode(["w1 w2", "w3"], "query"), atol=1e-6)


def test_no_texts(tmp_path: Path) -> None:
    assert CachedEncoder(BagEncoder(), tmp_path / "e.sqlite").encode([], "query").shape == (0, 64)


class Interrupted(BagEncoder):
    """Dies in its second batch."""

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        if self.calls == 1:
            raise KeyboardInterrupt
        return super().encode(texts, kind)


def test_an_interruption_costs_one_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_cache, "_WRITE_EVERY", 4)
    texts = [f"w{i}" for i in range(10)]
    with pytest.raises(KeyboardInterrupt):
        CachedEncoder(Interrupted(), tmp_path / "e.sqlite").encode(texts, "document")
    bag = BagEncoder()
    CachedEncoder(bag, tmp_path / "e.sqlite").encode(texts, "document")
    assert len(bag.seen) == 6


def _embed(path: Path, first: int) -> None:
    cached = CachedEncoder(BagEncoder(), path)
    for start in range(first, first + 200, 20):
        cached.encode([f"w{i} w{i + 1}" for i in range(start, start + 20)], "document")


def test_two_processes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_embed, args=(path, first)) for first in (0, 100)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    disk = DiskCache(path)
    disk.check()
    assert len(disk) == 300
    bag = BagEncoder()
    texts = [f"w{i} w{i + 1}" for i in range(300)]
    found = CachedEncoder(bag, path).encode(texts, "document")
    assert not bag.seen
    assert np.array_equal(found, BagEncoder().encode(texts, "document"))


def test_a_damaged_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    path.write_bytes(b"this is no database, " * 500)
    with pytest.raises(CacheError, match=r"e\.sqlite"):
        CachedEncoder(BagEncoder(), path)


def test_vectors_of_another_size_are_noticed(tmp_path: Path) -> None:
    class Wider(BagEncoder):
        def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
            return np.zeros((len(texts), 99), np.float32)

    CachedEncoder(BagEncoder(), tmp_path / "e.sqlite").encode(["w1"], "query")
    with pytest.raises(CacheError, match="sizes"):
        CachedEncoder(Wider(), tmp_path / "e.sqlite").encode(["w1", "w2"], "query")


def test_the_default_file_is_in_the_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path))
    CachedEncoder(BagEncoder()).encode(["w1"], "query")
    assert (tmp_path / "embeddings.sqlite").exists()


def test_memory_is_bounded() -> None:
    held: RecentlyUsed[str, int] = RecentlyUsed(10)
    held.put("a", 1, 4)
    held.put("b", 2, 4)
    assert held.get("a") == 1  # now "b" was used longest ago
    held.put("c", 3, 4)
    assert (held.get("a"), held.get("b"), held.get("c")) == (1, None, 3)
    held.put("a", 9, 6)
    assert (held.get("a"), held.get("c"), len(held)) == (9, 3, 2)
    held.put("too large", 4, 11)
    assert len(held) == 0
    held.put("d", 5, 10)
    assert held.get("d") == 5
