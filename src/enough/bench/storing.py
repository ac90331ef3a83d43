"""How long finding a user's nearest records takes, against one row per vector, in the same run.

In: how many users with how many records. Out: `StoreBench`. Records and vectors are made up; a
query is a vector, so nothing is encoded. Users are asked in turn. Three ways to the same records:
the store with its memory, the store without any (every question reads the database, whose pages
the system has in its cache), and the plain table. Then small users are asked alone, and while a
thread asks for a user with ten times as many records all the time.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from enough.bench.plain_table import PlainTable
from enough.errors import ModelError
from enough.protocols import Floats
from enough.records import Record
from enough.retrieval.vectors import unit_rows
from enough.store.blocks import Placed
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.sql_store import SqlStore
from enough.store.values import Owner

_LIMIT, _TOGETHER = 20, 1000
_SMALL = 200  # records of a small user


@dataclass(frozen=True, slots=True)
class StoreBench:
    """What one run measured; times in milliseconds.

    Attributes:
        load: processes that wanted a core when it began; more than `cores` blurs the figures.
        append_per_s: records per second, a thousand at a time.
        warm_p50_ms: of a user asked before.
        cold_p50_ms: of the store without memory.
        naive_p50_ms: of one row per vector.
        ratio: naive_p50_ms over cold_p50_ms.
        small_p50_ms: of a user with 200 records.
        beside_p50_ms: the same while a user with ten times `records` is asked without a pause.
    """

    cores: int
    load: float
    python: str
    sqlite: str
    users: int
    records: int
    dim: int
    rounds: int
    append_per_s: float
    warm_p50_ms: float
    warm_p95_ms: float
    cold_p50_ms: float
    cold_p95_ms: float
    naive_p50_ms: float
    naive_p95_ms: float
    ratio: float
    small_p50_ms: float
    small_p95_ms: float
    beside_p50_ms: float
    beside_p95_ms: float


@dataclass(frozen=True, slots=True, eq=False)
class _MadeUp:
    """Random directions; records get those of their numbers."""

    vectors: Floats
    fingerprint: str = "made up"

    def embed(self, records: Sequence[Record]) -> Floats:
        places = [int(record.id) % len(self.vectors) for record in records]
        return np.asarray(self.vectors[places])


def run_store_bench(
    users: int, records: int, dim: int, rounds: int, *, seed: int = 0, database: str | None = None
) -> StoreBench:
    """Fill a store and a plain table, check that they find the same, and time them.

    Args:
        users: with so many records each.
        records: of each.
        dim: of the vectors.
        rounds: questions to each user.
        seed: of vectors and queries.
        database: an empty one; a temporary SQLite file without it.
    """
    rng = np.random.default_rng(seed)
    made_up = _MadeUp(unit_rows(rng.standard_normal((records, dim)).astype(np.float32)))
    queries = unit_rows(rng.standard_normal((rounds, dim)).astype(np.float32))
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        place = database or str(Path(folder) / "store.sqlite")
        capacity = (users + 11) * records * dim * 4 // 1_000_000 + 1
        with (
            closing(open_store(StoreConfig(place, cache_mb=capacity))) as store,
            closing(open_store(StoreConfig(place, cache_mb=0))) as forgetful,
            closing(PlainTable(Path(folder) / "plain.sqlite")) as table,
        ):
            owners = [Owner("bench", "bench", f"user {number}") for number in range(users)]
            seconds = _fill(store, table, owners, records, made_up)
            _require_same(store, table, owners[0], queries[0])
            ways: list[Callable[[int, Floats], object]] = [
                lambda user, q: _ask(store, owners[user], q),
                lambda user, q: _ask(forgetful, owners[user], q),
                lambda user, q: table.nearest(user, q, _LIMIT),
            ]
            warm, cold, naive = (_times(way, users, queries) for way in ways)
            small, beside = _beside_a_large_one(store, made_up, queries)
    return StoreBench(
        cores=os.cpu_count() or 1,
        load=load,
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
        users=users,
        records=records,
        dim=dim,
        rounds=rounds,
        append_per_s=users * records / seconds,
        **_named("warm", warm),
        **_named("cold", cold),
        **_named("naive", naive),
        ratio=naive[0] / cold[0],
        **_named("small", small),
        **_named("beside", beside),
    )


def _named(name: str, times: tuple[float, float]) -> dict[str, float]:
    return {f"{name}_p50_ms": times[0], f"{name}_p95_ms": times[1]}


def _record(owner: Owner, number: int) -> Record:
    return Record(str(number), owner.user, f"What was faced, number {number}. " * 6, "a choice")


def _fill(
    store: SqlStore, table: PlainTable, owners: list[Owner], records: int, made_up: _MadeUp
) -> float:
    """Users take turns, as they do in an app; seconds the store took."""
    seconds = 0.0
    for start in range(0, records, _TOGETHER):
        for user, owner in enumerate(owners):
            some = range(start, min(start + _TOGETHER, records))
            given = [_record(owner, number) for number in some]
            started = time.perf_counter()
            store.append(owner, given, made_up)
            seconds += time.perf_counter() - started
            placed = [Placed(*pair) for pair in zip(some, given, strict=True)]
            table.add(user, placed, made_up.embed(given))
    return seconds


def _ask(store: SqlStore, owner: Owner, query: Floats) -> list[Record]:
    found = store.nearest(owner, query, "made up", _LIMIT)
    return [candidate.record for candidate in found]


def _require_same(store: SqlStore, table: PlainTable, owner: Owner, query: Floats) -> None:
    if _ask(store, owner, query) != table.nearest(0, query, _LIMIT):
        raise ModelError("store and table find different records; times cannot be compared")


def _times(
    way: Callable[[int, Floats], object], users: int, queries: Floats
) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds; the first round is not counted."""
    seconds = []
    for number, query in enumerate(queries):
        for user in range(users):
            started = time.perf_counter()
            way(user, query)
            if number:
                seconds.append(time.perf_counter() - started)
    return float(np.median(seconds)) * 1e3, float(np.percentile(seconds, 95)) * 1e3


def _beside_a_large_one(
    store: SqlStore, made_up: _MadeUp, queries: Floats
) -> tuple[tuple[float, float], tuple[float, float]]:
    large = Owner("bench", "bench", "large")
    small = [Owner("bench", "bench", f"small {number}") for number in range(10)]
    for owner in small:
        store.append(owner, [_record(owner, number) for number in range(_SMALL)], made_up)
    store.append(
        large, [_record(large, number) for number in range(10 * len(made_up.vectors))], made_up
    )

    def ask(user: int, query: Floats) -> object:
        return _ask(store, small[user], query)

    alone = _times(ask, len(small), queries)
    done = threading.Event()

    def disturb() -> None:
        while not done.is_set():
            _ask(store, large, queries[0])

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        return alone, _times(ask, len(small), queries)
    finally:
        done.set()
        disturber.join()
