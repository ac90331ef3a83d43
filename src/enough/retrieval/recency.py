"""The newest records first, whatever the query.

In: a history. Out: a pool whose scores fall from 1 (newest) in equal steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from enough.records import History, Pool, Request
from enough.retrieval.ranking import best_first


@dataclass(frozen=True, slots=True)
class RecencyRetriever:
    """By time, then by place in the log: of two records of one day the later entry is newer.

    Records without a time count as older than those with one.
    """

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        """The last `limit` records."""
        oldest_first = sorted(range(len(history)), key=lambda i: (history[i].moment or (), i))
        scores = np.zeros(len(history))
        scores[oldest_first] = np.arange(1, len(history) + 1) / max(len(history), 1)
        return best_first(history, scores, limit)
