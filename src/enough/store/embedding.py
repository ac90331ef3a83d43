"""The text a record is searched by, embedded: what vectors in a store are.

In: an encoder and a task. Out: vectors of records and of queries, and one name for all that could
change them: the encoder, and the task's template for the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from enough.disk_cache import cache_key
from enough.errors import ModelError
from enough.protocols import Encoder, Floats
from enough.records import Record
from enough.retrieval.ranking import retrieval_texts
from enough.store.record_store import Embedder
from enough.tasks import Task


@dataclass(frozen=True, slots=True)
class RecordEmbedder:
    """A frozen encoder as a store wants it."""

    encoder: Encoder
    task: Task

    @property
    def fingerprint(self) -> str:
        """Of the encoder, and of the template that makes a text of a record."""
        return f"{self.encoder.fingerprint}:{cache_key(self.task.retrieval_text).hex()[:16]}"

    def embed(self, records: Sequence[Record]) -> Floats:
        """Vectors [len(records), dim]."""
        return self.encoder.encode(retrieval_texts(self.task, tuple(records)), "document")

    def embed_query(self, query: str) -> Floats:
        """The vector [dim] of `request.query`."""
        return np.asarray(self.encoder.encode([query], "query")[0], np.float32)


def checked_vectors(records: Sequence[Record], embedder: Embedder) -> Floats:
    """What the embedder makes of the records, if it is fit to be kept: [n, dim], finite."""
    made = np.ascontiguousarray(embedder.embed(records), np.float32)
    if made.ndim != 2 or len(made) != len(records) or made.shape[1] == 0:
        raise ModelError(f"the encoder made vectors {made.shape} of {len(records)} records")
    if not np.isfinite(made).all():
        place = int(np.flatnonzero(~np.isfinite(made).all(axis=1))[0])
        raise ModelError(f"the vector of record {records[place].id!r} is not finite")
    return made
