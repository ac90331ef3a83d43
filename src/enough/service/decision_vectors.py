"""What decisions need of a record, kept in the store: it with its date, and its action alone.

In: records. Out: both vectors side by side, [n, 2 dim], from the user's memory or the encoder; and
back into the memory, where the store has them already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from enough.disk_cache import cache_key
from enough.prompts.serialise import record_text
from enough.protocols import Encoder, Floats
from enough.records import Pool, Record
from enough.service.memories import Memories, UserMemory, remember
from enough.store.record_store import RecordStore
from enough.store.values import Owner


@dataclass(frozen=True, slots=True)
class DecisionEmbedder:
    """As a store wants it; what it computes is in the user's memory afterwards."""

    encoder: Encoder
    memories: Memories
    memory: UserMemory

    @property
    def fingerprint(self) -> str:
        """Of the encoder, and of what is embedded of a record."""
        return f"{self.encoder.fingerprint}:decisions-1"

    def embed(self, records: Sequence[Record]) -> Floats:
        """Vectors [len(records), 2 dim]."""
        texts = [record_text(record) for record in records]
        texts += [record.action for record in records]
        remember(self.memories, self.memory, texts, self.encoder)
        vectors = np.stack([self.memory.vectors[cache_key(text)] for text in texts])
        return np.concatenate([vectors[: len(records)], vectors[len(records) :]], axis=1)


def recall(store: RecordStore, owner: Owner, embedder: DecisionEmbedder, pool: Pool) -> None:
    """Fetch what the memory lacks of a pool; asked once for every record, whether there or not."""
    memory = embedder.memory
    missing = {one.record.id for one in pool} - memory.recalled.get(owner.task, set())
    if not missing:
        return
    found: dict[bytes, Floats] = {}
    for record, both in store.beside(owner, embedder.fingerprint, missing):
        half = len(both) // 2
        for text, vector in ((record_text(record), both[:half]), (record.action, both[half:])):
            if (key := cache_key(text)) not in memory.vectors:
                found[key] = vector.copy()
    embedder.memories.add(memory, found)
    memory.recalled.setdefault(owner.task, set()).update(missing)
