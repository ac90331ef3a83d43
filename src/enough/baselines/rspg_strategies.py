"""RSPG's six ways from a request to a profile, and what its selector sees of each.

In: a request and its legal history. Out: six profiles of at most k records ("none" has none), and
for each the vectors of the request and of its records, their product, how many records there are
and which strategy it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from enough.baselines.feedback import Profile
from enough.baselines.fixed import FixedLength
from enough.baselines.method_files import Weights
from enough.baselines.tools import Tools
from enough.baselines.towers import TrainedRetriever
from enough.protocols import Floats, Retriever
from enough.records import History, Request
from enough.retrieval.bm25 import BM25Retriever
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.ranking import retrieval_texts
from enough.retrieval.recency import RecencyRetriever
from enough.retrieval.vectors import unit_rows

TRAINED = ("ropg-kd", "ropg-rl")
STRATEGIES = ("none", "bm25", "recency", "dense", *TRAINED)
_CANDIDATES = 20  # looked at for k that fit


class Strategies:
    """In the order of STRATEGIES."""

    def __init__(self, weights: Weights, tools: Tools, k: int, temperature: float) -> None:
        """`weights` has both trained retrievers, each with its name before its parameters."""
        self._tools = tools
        self._k = k
        trained = (
            TrainedRetriever(weights, tools.encoder, temperature, f"{name}.") for name in TRAINED
        )
        self._retrievers: tuple[Retriever, ...] = (
            BM25Retriever(),
            RecencyRetriever(),
            DenseRetriever(tools.encoder),
            *trained,
        )
        self._dim = len(weights[f"{TRAINED[0]}.query.bias"])

    @property
    def width(self) -> int:
        """How many features a strategy has."""
        return 3 * self._dim + 1 + len(STRATEGIES)

    def profiles(
        self, request: Request, history: History, answer_tokens: int | None = None
    ) -> list[Profile]:
        """One for each strategy; room for the answer is the task's, unless it is given."""
        tools = self._tools
        found: list[Profile] = [()]
        for retriever in self._retrievers:
            pool = retriever.retrieve(request, history, _CANDIDATES)
            budget = tools.prompter.budget(
                request, pool, tools.generator.window, tools.max_records, answer_tokens
            )
            found.append(FixedLength(self._k).select(request, pool, budget).records)
        return found

    def features(self, request: Request, profiles: Sequence[Profile]) -> Floats:
        """What is known of each strategy's profile before anything is generated, [6, width]."""
        encoder = self._tools.encoder
        scale = np.sqrt(self._dim)  # entries of about 1, so that their products are, too
        query = unit_rows(encoder.encode([request.query], "query"))[0] * scale
        seen = np.zeros((len(profiles), self.width), np.float32)
        seen[:, : self._dim] = query
        for row, records in enumerate(profiles):
            if records:
                texts = retrieval_texts(request.task, records)
                mean = unit_rows(encoder.encode(texts, "document")).mean(axis=0) * scale
                seen[row, self._dim : 2 * self._dim] = mean
                seen[row, 2 * self._dim : 3 * self._dim] = mean * query
            seen[row, 3 * self._dim] = len(records) / self._k
        seen[:, 3 * self._dim + 1 :] = np.eye(len(STRATEGIES))
        return seen
