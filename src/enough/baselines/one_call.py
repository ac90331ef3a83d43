"""A selector and one call of the generator: the shape of most methods.

In: a selector, and perhaps a retriever of its own. Out: a `Method`. Without a retriever the records
are chosen from the shared pool, with one from the whole legal history.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from enough.baselines.tools import Foreseeing, Tools
from enough.protocols import Answered, Asked, Retriever, Selector
from enough.records import Selection


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
        selection, seconds = self._chosen(asked)
        answered = self._tools.answer(asked.request, selection.records, selection.reason)
        return replace(answered, own_retrieval=seconds)

    def foresee(self, many: Sequence[Asked]) -> None:
        """Have the generator write all these answers together; one that remembers knows them."""
        if isinstance(self._selector, Foreseeing) and self._retriever is None:
            self._selector.foresee(many)
        chosen = [(asked.request, self._chosen(asked)[0].records) for asked in many]
        self._tools.write_together(chosen)

    def _chosen(self, asked: Asked) -> tuple[Selection, float | None]:
        """What is selected, and how long a search of its own took."""
        request, pool, budget = asked.request, asked.pool, asked.budget
        seconds = None
        if self._retriever is not None:
            started = time.perf_counter()
            pool = self._retriever.retrieve(request, asked.history, self._limit)
            seconds = time.perf_counter() - started
            budget = self._tools.budget(request, pool)
        return self._selector.select(request, pool, budget), seconds
