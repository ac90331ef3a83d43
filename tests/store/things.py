"""Records, owners and an encoder without weights."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from enough.protocols import Floats
from enough.records import Record
from enough.store.embedding import RecordEmbedder
from enough.store.sql_store import SqlStore
from enough.store.values import Owner
from enough.tasks import LAMP_TASKS
from tests.retrieval.tiny import BagEncoder

TASK = LAMP_TASKS["LaMP-2"]
ANN = Owner("shop", TASK.name, "ann")


class Encoder(BagEncoder):
    """Another fingerprint, other vectors."""

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        return np.roll(super().encode(texts, kind), zlib.crc32(self.fingerprint.encode()), axis=1)


def embedder(fingerprint: str = "bag") -> RecordEmbedder:
    return RecordEmbedder(Encoder(fingerprint), TASK)


def record(number: int = 0, **changes: Any) -> Record:
    values = {"id": f"r{number}", "owner": "ann", "context": f"w{number % 40}", "action": "tag"}
    return Record(**(values | changes))


def records(count: int, start: int = 0, **changes: Any) -> list[Record]:
    return [record(number, **changes) for number in range(start, start + count)]


def everything(store: SqlStore, owner: Owner, limit: int = 1000) -> list[Record]:
    """All pages."""
    found: list[Record] = []
    cursor: str | None = None
    while True:
        page = store.page(owner, after=cursor, limit=limit)
        found.extend(page.records)
        if (cursor := page.cursor) is None:
            return found
