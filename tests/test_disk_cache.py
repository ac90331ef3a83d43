"""A cache file is opened by many at once, also when it is new."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from enough.disk_cache import DiskCache
from enough.errors import CacheError


def test_a_new_file_may_be_opened_by_many_at_once(tmp_path: Path) -> None:
    many = 8
    ready = threading.Barrier(many)

    def use(place: int) -> None:
        for number in range(25):
            ready.wait()
            cache = DiskCache(tmp_path / f"{number}.sqlite")
            cache.put_many({place.to_bytes(16): b"value"})
            cache.close()

    with ThreadPoolExecutor(many) as threads:
        list(threads.map(use, range(many)))  # raises what a thread raised
    assert len(DiskCache(tmp_path / "24.sqlite")) == many


def test_another_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(CacheError, match=r"cache format 0, this version reads 1; move the file"):
        len(DiskCache(path))
    assert path.read_bytes() == before
