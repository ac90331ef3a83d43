"""Records in an order that has nothing to do with the query: the baseline of all retrieval.

In: a request and a history. Out: a pool in random order, with scores in [0, 1).
"""

from __future__ import annotations

from dataclasses import dataclass

from enough.disk_cache import cache_key
from enough.records import History, Pool, Request
from enough.retrieval.ranking import best_first


@dataclass(frozen=True, slots=True)
class RandomRetriever:
    """A record's score is a hash of seed, request and record.

    So it depends neither on earlier calls nor on which other records are legal.
    """

    seed: int = 0

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        """`limit` records drawn without replacement."""
        scores = [self._score(request, record.owner, record.id) for record in history]
        return best_first(history, scores, limit)

    def _score(self, request: Request, owner: str, record_id: str) -> float:
        digest = cache_key(str(self.seed), request.user, request.id, owner, record_id)
        return (int.from_bytes(digest[:8], "little") >> 11) / 2**53  # all that a double can hold
