"""Maximal marginal relevance: near to the query, but not to what has been taken already.

In: a request and a history, perhaps narrowed by another retriever first. Out: the pool in the order
of taking; a score is what the record was worth at that moment, so scores never rise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.errors import ConfigError
from enough.protocols import Encoder, Floats, Retriever
from enough.records import History, Pool, Request
from enough.retrieval.ranking import best_first, embed_all, retrieval_texts
from enough.retrieval.vectors import unit_rows


@dataclass(frozen=True, slots=True)
class DiversityRetriever:
    """MMR with cosines of one encoder on both sides.

    Attributes:
        encoder: gives relevance and redundancy.
        base: narrows the history to `depth` records first; None looks at all of them.
        relevance_weight: λ; 1 ranks by relevance alone, 0 by novelty alone.
        depth: how many records of the base are looked at, or `limit` if that is more.
    """

    encoder: Encoder
    base: Retriever | None = None
    relevance_weight: float = 0.7
    depth: int = 100

    def __post_init__(self) -> None:
        if not 0 <= self.relevance_weight <= 1:
            raise ConfigError(f"relevance_weight must be in [0, 1], not {self.relevance_weight}")

    def prepare(self, requests: Sequence[Request], histories: Sequence[History]) -> None:
        """Embed everything in large batches."""
        embed_all(self.encoder, requests, histories)

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        """`limit` records that are relevant and differ from each other."""
        records = self._narrowed(request, history, limit)
        if not records or limit < 1:
            return ()
        texts = retrieval_texts(request.task, records)
        query = self.encoder.encode([request.query], "query")[0]  # [dim]
        vectors = self.encoder.encode(texts, "document")  # [n, dim]
        places, values = marginal_relevance(query, vectors, self.relevance_weight, limit)
        return best_first(tuple(records[i] for i in places), values, limit)

    def _narrowed(self, request: Request, history: History, limit: int) -> History:
        if self.base is None:
            return history
        pool = self.base.retrieve(request, history, max(self.depth, limit))
        kept = {candidate.record.id for candidate in pool}
        return tuple(record for record in history if record.id in kept)  # ties go by history order


def marginal_relevance(
    query: Floats, vectors: Floats, relevance_weight: float, limit: int
) -> tuple[list[int], list[float]]:
    """Take the item with the highest λ·cos(query, item) − (1 − λ)·redundancy, `limit` times.

    Redundancy is the highest cosine with an item taken before, and never below 0: being the
    opposite of something is no merit.

    Args:
        query: [dim].
        vectors: [n, dim].
        relevance_weight: λ.
        limit: how many to take.

    Returns:
        The places in the order of taking, of equals the first, and what each was worth then.
    """
    items = unit_rows(vectors)
    gain = relevance_weight * _cosines(items, unit_rows(query[None])[0])  # [n]
    redundancy = np.zeros(len(items))
    is_taken = np.zeros(len(items), dtype=bool)
    places: list[int] = []
    values: list[float] = []
    for _ in range(min(limit, len(items))):
        value = np.where(is_taken, -np.inf, gain - (1 - relevance_weight) * redundancy)
        best = int(value.argmax())
        places.append(best)
        values.append(float(value[best]))
        is_taken[best] = True
        redundancy = np.maximum(redundancy, _cosines(items, items[best]))
    return places, values


def _cosines(items: Floats, other: Floats) -> NDArray[np.float64]:
    """[n] from unit vectors [n, dim] and [dim]; equal items get equal bits, wherever they are."""
    cosines: NDArray[np.float64] = (items * other).sum(axis=1).astype(np.float64)
    return np.nan_to_num(cosines)
