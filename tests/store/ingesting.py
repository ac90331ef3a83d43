"""A process that appends for as long as it lives, and says what was acknowledged.

Run by the kill test through `multiprocessing`: each thread appends records whose content follows
from their id, to users of its own and to one that all share, and writes an id into the log only
after `append` returned.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from enough.records import Record
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.values import Owner
from tests.store.things import TASK, embedder

SHARED = "everybody"
THREADS = 3


def owner_of(user: str) -> Owner:
    return Owner("shop", TASK.name, user)


def made_up(identity: str, user: str) -> Record:
    """What must be there under this id; long enough to be torn."""
    return Record(identity, user, f"w1 {identity} " * 40, f"done {identity}", source_id=identity)


def ingest(database: str, log: Path, name: str) -> None:
    store = open_store(StoreConfig(database, wait_s=30.0))
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def work(thread: int) -> None:
        number = 0
        while True:
            user = SHARED if number % 3 == 0 else f"user-{thread}"
            size = 1 + (number * 7 + thread) % 20
            ids = [f"{name}-{thread}-{number}-{i}" for i in range(size)]
            store.append(owner_of(user), [made_up(one, user) for one in ids], embedder())
            os.write(file, "".join(f"{user} {one}\n" for one in ids).encode())
            number += 1

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def open_once(database: str, barrier_at: float) -> None:
    """Open it at the same moment as others, append one record, and leave."""
    import time

    time.sleep(max(0.0, barrier_at - time.time()))
    store = open_store(StoreConfig(database, wait_s=30.0))
    user = f"user-{os.getpid()}"
    store.append(owner_of(user), [made_up("only", user)], embedder())
    store.close()
