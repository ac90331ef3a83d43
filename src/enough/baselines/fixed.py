"""Profiles without learning: none, k records, so many tokens, a least score, the whole pool.

In: a pool in some order and a budget. Out: a `Selection` that takes records in that order; one that
does not fit whole is passed over. k = 0 is the empty profile.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from enough.baselines.one_call import OneCall
from enough.baselines.tools import Tools
from enough.config import require_at_least
from enough.errors import ConfigError
from enough.protocols import Answered, Asked, Budget, Method
from enough.records import Pool, Record, Request, Selection


def first_fitting(
    order: Iterable[int], pool: Pool, budget: Budget, k: int, room: int
) -> tuple[Record, ...]:
    """At most k records within the room, by their places in the pool; others are passed over."""
    choices = list(zip(pool, budget.record_tokens, strict=True))
    chosen: list[Record] = []
    for place in order:
        if len(chosen) == min(k, budget.max_records):
            break
        candidate, tokens = choices[place]
        if tokens <= room:
            chosen.append(candidate.record)
            room -= tokens
    return tuple(chosen)


def first_k(order: Iterable[int], pool: Pool, budget: Budget, k: int) -> Selection:
    """The first k records of an order of the pool that fit the budget."""
    chosen = first_fitting(order, pool, budget, k, budget.max_profile_tokens)
    return Selection(chosen, f"{k} records asked for" if len(chosen) == k else "nothing more fits")


@dataclass(frozen=True, slots=True)
class FixedLength:
    """Takes records in pool order until it has k; one that does not fit whole is passed over."""

    k: int

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """At most k records of the pool, in its order."""
        return first_k(range(len(pool)), pool, budget, self.k)


@dataclass(frozen=True, slots=True)
class FixedTokens:
    """Takes records in pool order as long as their tokens stay within a number."""

    tokens: int

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """Records of at most so many tokens together."""
        room = min(self.tokens, budget.max_profile_tokens)
        chosen = first_fitting(range(len(pool)), pool, budget, budget.max_records, room)
        return Selection(chosen, f"{self.tokens} tokens asked for")


@dataclass(frozen=True, slots=True)
class ScoreThreshold:
    """Takes the records that the retriever gave at least this score, in pool order."""

    score: float

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """At most K records that are good enough; perhaps none."""
        good = [place for place, candidate in enumerate(pool) if candidate.score >= self.score]
        chosen = first_fitting(good, pool, budget, budget.max_records, budget.max_profile_tokens)
        return Selection(chosen, f"scores of at least {self.score:g} asked for")


class WholePool:
    """Everything of the pool that fits the window; K_max does not count. A `protocols.Method`."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def answer(self, asked: Asked) -> Answered:
        """One call with all of it."""
        request, pool = asked.request, asked.pool
        budget = self._tools.prompter.budget(
            request, pool, self._tools.generator.window, max_records=len(pool)
        )
        chosen = first_fitting(range(len(pool)), pool, budget, len(pool), budget.max_profile_tokens)
        return self._tools.answer(request, chosen, "all of the pool that fits")


@dataclass(frozen=True, slots=True)
class EmptyConfig:
    """No profile at all."""

    def build(self, tools: Tools) -> Method:
        """One call without records."""
        return OneCall(FixedLength(0), tools)


@dataclass(frozen=True, slots=True)
class FullConfig:
    """The whole shared pool, as far as it fits."""

    def build(self, tools: Tools) -> Method:
        """One call with all records."""
        return WholePool(tools)


@dataclass(frozen=True, slots=True)
class FixedConfig:
    """The first k records of the shared pool."""

    k: int = 5

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 0})

    def build(self, tools: Tools) -> Method:
        """One call with k records."""
        return OneCall(FixedLength(self.k), tools)


@dataclass(frozen=True, slots=True)
class FixedTokensConfig:
    """Records of the shared pool up to a number of tokens."""

    tokens: int = 512

    def __post_init__(self) -> None:
        require_at_least(self, {"tokens": 0})

    def build(self, tools: Tools) -> Method:
        """One call with at most so many tokens of records."""
        return OneCall(FixedTokens(self.tokens), tools)


@dataclass(frozen=True, slots=True)
class ThresholdConfig:
    """Records of the shared pool with a score from `score` on, in the retriever's own unit.

    The default is meant for cosines; for any other retriever it has to be set.
    """

    score: float = 0.3

    def __post_init__(self) -> None:
        if math.isnan(self.score):
            raise ConfigError("score must be a number")

    def build(self, tools: Tools) -> Method:
        """One call with what is good enough."""
        return OneCall(ScoreThreshold(self.score), tools)
