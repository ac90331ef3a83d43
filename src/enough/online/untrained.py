"""A selector that needs no training: what is near to the request, not said yet, and short.

In: a request, its pool and budget, a frozen encoder. Out: a `Selection`, or a `Trace` of every
step. A fallback for those who have no controller yet: nothing personal is learnt, and whether a
record changes the answer is not known. At each step a record d is worth

    relevance(d) − least_relevance − diversity · repetition(d) − price · tokens(d) / L_REF

where relevance is the cosine with the query less half of what the pool's other records have on
average (all texts of one kind lie close to each other, so being as near as the others means
little), and repetition is the highest cosine with a record that is chosen already, at least 0. The
best is appended while it is worth more than nothing; ties are STOP's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.config import require_at_least
from enough.online.fast_controller import StepValues
from enough.online.policy import Step, Trace, why_no_further
from enough.prompts.prompter import L_REF
from enough.protocols import Budget, Encoder, Floats
from enough.records import Pool, Request, Selection
from enough.retrieval.ranking import retrieval_texts
from enough.retrieval.vectors import unit_rows

PARTS = ("relevance", "repetition", "cost")
"""What a value is made of, in the order of a trace's columns."""

_OF_THE_OTHERS = 0.5  # 0: absolute, 1: relative to the pool; either alone does a little worse


@dataclass(frozen=True, slots=True)
class UntrainedConfig:
    """What the fallback asks of a record.

    Attributes:
        least_relevance: relevance that is worth nothing.
        diversity: weight of being like what is chosen already.
        price: of L_REF tokens.
    """

    least_relevance: float = 0.3
    diversity: float = 0.25
    price: float = 0.5

    def __post_init__(self) -> None:
        require_at_least(
            self, {"least_relevance": 0, "diversity": 0, "price": 0}, table="untrained."
        )


class UntrainedSelector:
    """Implements `protocols.Selector`."""

    def __init__(self, encoder: Encoder, config: UntrainedConfig | None = None) -> None:
        self._encoder = encoder
        self._config = config or UntrainedConfig()

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """The records that are worth more than nothing, in the order of taking."""
        trace = self.trace(request, pool, budget)
        return Selection(tuple(pool[place].record for place in trace.profile), trace.reason)

    def trace(self, request: Request, pool: Pool, budget: Budget) -> Trace:
        """The same with every step's values; columns are PARTS, and no probability is known."""
        config = self._config
        tokens = np.array(budget.record_tokens, np.int64)
        records = self._vectors(request, pool)
        parts = np.zeros((len(pool), len(PARTS)), np.float32)
        parts[:, 0] = self._relevance(request, records)
        parts[:, 2] = tokens / L_REF
        weights = np.array([1, -config.diversity, -config.price], np.float32)
        chosen: list[int] = []
        steps: list[Step] = []
        room, reason = budget.max_profile_tokens, "nothing to choose from"
        if len(pool):
            reason = why_no_further(0, len(pool), budget.max_records)
        while (feasible := _feasible(tokens, room, chosen, budget.max_records)).any():
            worth = (parts * weights).sum(axis=1) - np.float32(config.least_relevance)
            net = np.where(feasible, worth, np.float32(-np.inf))
            best = int(net.argmax())
            stops = not net[best] > 0
            values = StepValues(parts.copy(), np.zeros(len(PARTS), np.float32), net, 0.0)
            taken = None if stops else best
            steps.append(Step(values, -float(net[best]), math.nan, taken))
            if stops:
                reason = "enough" if chosen else "nothing is worth its tokens"
                break
            chosen.append(best)
            room -= int(tokens[best])
            np.maximum(parts[:, 1], _cosines(records, records[best]), out=parts[:, 1])
            reason = why_no_further(len(chosen), len(pool), budget.max_records)
        return Trace(tuple(steps), tuple(chosen), budget.max_profile_tokens - room, reason)

    def _vectors(self, request: Request, pool: Pool) -> Floats:
        # The texts of retrieval, so that a dense retriever has had them embedded already.
        texts = retrieval_texts(request.task, tuple(candidate.record for candidate in pool))
        return unit_rows(self._encoder.encode(texts, "document"))

    def _relevance(self, request: Request, records: Floats) -> Floats:
        query = unit_rows(self._encoder.encode([request.query], "query"))[0]
        cosines = _cosines(records, query)
        # An only record has nothing to be compared with: it is taken as it is.
        others = (cosines.sum() - cosines) / max(len(cosines) - 1, 1)
        return np.asarray(cosines - np.float32(_OF_THE_OTHERS) * others, np.float32)


def _feasible(
    tokens: NDArray[np.int64], room: int, chosen: list[int], max_records: int
) -> NDArray[np.bool_]:
    """Records that may be taken: no repeat, no overflow, horizon kept, [n]."""
    if len(chosen) >= max_records:
        return np.zeros(len(tokens), np.bool_)
    is_open: NDArray[np.bool_] = tokens <= room
    is_open[chosen] = False
    return is_open


def _cosines(records: Floats, other: Floats) -> Floats:
    """[n] from unit vectors [n, dim] and [dim]; equal records get equal bits, wherever they are."""
    return np.asarray(np.nan_to_num((records * other).sum(axis=1)), np.float32)
