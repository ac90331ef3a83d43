"""Killed at any moment: what was acknowledged is there, once and whole."""

from __future__ import annotations

import multiprocessing
import random
import sqlite3
import time
from collections import Counter
from pathlib import Path

from enough.store.config import StoreConfig
from enough.store.opening import open_store
from tests.store.ingesting import ingest, made_up, open_once
from tests.store.things import embedder, everything

KILLS, PROCESSES = 10, 2


def spawner() -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.store.ingesting", "enough.store.sql_store"])
    return context


def test_sigkill_during_ingest(database: str, tmp_path: Path) -> None:
    context, log = spawner(), tmp_path / "acknowledged"
    log.touch()
    rng = random.Random(0)
    hit = 0
    for round_ in range(KILLS // PROCESSES):
        workers = [
            context.Process(target=ingest, args=(database, log, f"{round_}{worker}"), daemon=True)
            for worker in range(PROCESSES)
        ]
        before = log.stat().st_size
        for worker in workers:
            worker.start()
        while log.stat().st_size == before:
            time.sleep(0.002)
        for worker in workers:
            time.sleep(rng.uniform(0, 0.15))
            hit += worker.is_alive()
            worker.kill()
        for worker in workers:
            worker.join()
    assert hit == KILLS, "every kill must hit a process at work"
    _check(database, log.read_text().splitlines())


def _check(database: str, acknowledged: list[str]) -> None:
    store = open_store(StoreConfig(database))
    assert len(acknowledged) > 100
    there: Counter[str] = Counter()
    for summary in store.owners("shop").owners:
        found = everything(store, summary.owner)
        assert len(found) == summary.records == len({one.id for one in found})
        for one in found:
            assert one == made_up(one.id, summary.owner.user)
            there[f"{one.owner} {one.id}"] += 1
        vectors = store.vectors(summary.owner, embedder().fingerprint)
        assert vectors.ids == tuple(one.id for one in found)
        assert (vectors.matrix == embedder().embed(found)).all()
    assert set(acknowledged) <= set(there)
    assert max(there.values()) == 1
    if not database.startswith("postgresql"):
        raw = sqlite3.connect(database)
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        raw.close()
    store.close()


def test_several_processes_open_a_new_database_at_once(database: str) -> None:
    context = spawner()
    at = time.time() + 0.5
    workers = [context.Process(target=open_once, args=(database, at)) for _ in range(5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 5
    store = open_store(StoreConfig(database))
    assert sum(one.records for one in store.owners("shop").owners) == 5
    store.close()
