"""A selector and one call of the generator: the shape of most methods.

In: a selector, and perhaps a retriever of its own. Out: a `Method`. Without a retriever the records
are chosen from the shared pool, with one from the whole legal history.
"""

from __future__ import annotations

import time
from dataclasses import replace

from enough.baselines.tools import Tools
from enough.protocols import Answered, Asked, Retriever, Selector


class OneCall:
    """Implements `protocols.Method`."""

    def __init__(
        self, selector: Selector, tools: Tools, retriever: Retriever | None = None, limit: int = 20
    ) -> None:
        self._selector = selector
        self._tools = tools
        self._retriever = retriever
        self._limit = limit

    def answer(self, asked: Asked) -> Answered:
        """Choose, then generate once."""
        request, pool, budget = asked.request, asked.pool, asked.budget
        seconds = None
        if self._retriever is not None:
            started = time.perf_counter()
            pool = self._retriever.retrieve(request, asked.history, self._limit)
            seconds = time.perf_counter() - started
            budget = self._tools.budget(request, pool)
        selection = self._selector.select(request, pool, budget)
        answered = self._tools.answer(request, selection.records, selection.reason)
        return replace(answered, own_retrieval=seconds)
