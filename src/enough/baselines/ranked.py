"""Baselines that are a retriever: the first k records of the whole legal history by one order.

In: the settings. Out: a `Method` with a retriever of its own and one call. None of them sees the
shared pool, so the paper's BM25 and dense rows do not depend on who made that pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from enough.baselines.fixed import FixedLength
from enough.baselines.one_call import OneCall
from enough.baselines.tools import Tools
from enough.config import require_at_least
from enough.errors import ConfigError
from enough.protocols import Method, Retriever
from enough.retrieval.bm25 import BM25Retriever
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.diversity import DiversityRetriever
from enough.retrieval.embedding_cache import CachedEncoder
from enough.retrieval.encoders import load_encoder
from enough.retrieval.random_order import RandomRetriever
from enough.retrieval.recency import RecencyRetriever

_LOOKED_AT = 20  # records, so that one that does not fit is replaced by the next


def _first(k: int, retriever: Retriever, tools: Tools) -> Method:
    return OneCall(FixedLength(k), tools, retriever, limit=max(k, _LOOKED_AT))


@dataclass(frozen=True, slots=True)
class BM25Config:
    """The k records that share most words with the query."""

    k: int = 5

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1})

    def build(self, tools: Tools) -> Method:
        """BM25 over the history, one call."""
        return _first(self.k, BM25Retriever(), tools)


@dataclass(frozen=True, slots=True)
class DenseConfig:
    """The k records nearest to the query.

    Attributes:
        k: how many.
        encoder: a name of `retrieval.encoders.ENCODERS`, a folder or a hub id; None takes the one
            of the run.
    """

    k: int = 5
    encoder: str | None = None

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1})

    @property
    def title(self) -> str:
        """For tables: says which encoder, where it is not that of the run."""
        return "dense" if self.encoder is None else f"dense ({self.encoder})"

    def build(self, tools: Tools) -> Method:
        """Dot products over the history, one call."""
        named = self.encoder
        encoder = tools.encoder if named is None else CachedEncoder(load_encoder(named))
        return _first(self.k, DenseRetriever(encoder), tools)


@dataclass(frozen=True, slots=True)
class RecencyConfig:
    """The k newest records."""

    k: int = 5

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1})

    def build(self, tools: Tools) -> Method:
        """The history by time, one call."""
        return _first(self.k, RecencyRetriever(), tools)


@dataclass(frozen=True, slots=True)
class RandomConfig:
    """k records drawn at random, by the run's seed and the request: the same ones every time."""

    k: int = 5
    is_drawn: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1})

    def build(self, tools: Tools) -> Method:
        """The history in random order, one call."""
        return _first(self.k, RandomRetriever(tools.seed), tools)


@dataclass(frozen=True, slots=True)
class MMRConfig:
    """k records that are near to the query but not to each other."""

    k: int = 5
    relevance_weight: float = 0.7

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1})
        if not 0 <= self.relevance_weight <= 1:
            raise ConfigError(f"relevance_weight must be in [0, 1], not {self.relevance_weight}")

    def build(self, tools: Tools) -> Method:
        """Maximal marginal relevance over the history, one call."""
        retriever = DiversityRetriever(tools.encoder, relevance_weight=self.relevance_weight)
        return _first(self.k, retriever, tools)
