"""Dense retrieval: the dot product of a query vector and a record vector.

In: a request and a history. Out: the pool by similarity under a frozen encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from enough.protocols import Encoder
from enough.records import History, Pool, Request
from enough.retrieval.ranking import best_first, embed_all, retrieval_texts


@dataclass(frozen=True, slots=True)
class DenseRetriever:
    """Ranks by the encoder's own similarity; give it a `CachedEncoder` to embed each text once."""

    encoder: Encoder

    def prepare(self, requests: Sequence[Request], histories: Sequence[History]) -> None:
        """Embed everything in large batches."""
        embed_all(self.encoder, requests, histories)

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        """The records nearest to the query."""
        if not history:
            return ()
        texts = retrieval_texts(request.task, history)
        query = self.encoder.encode([request.query], "query")  # [1, dim]
        records = self.encoder.encode(texts, "document")  # [n, dim]
        # Not a matrix product: there the last bits of a row depend on its place, and ties break.
        return best_first(history, (records * query).sum(axis=1), limit)
