"""From examples to candidate pools C_i: leakage controls, then the frozen retriever.

The one place where both happen, so that every selector, teacher and table sees the same records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from enough.config import LATER
from enough.data.leakage import DEFAULT_THRESHOLD, LeakageControls
from enough.errors import ConfigError, UnknownNameError
from enough.model_names import model_name
from enough.progress import OnStep, silent
from enough.protocols import PreparingRetriever, Retriever
from enough.records import Dataset, Example, Pool
from enough.retrieval.embedding_cache import CachedEncoder
from enough.retrieval.encoders import DEFAULT_ENCODER, load_encoder, located_encoder
from enough.retrieval.registry import RETRIEVERS, build_retriever


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """How pools are made.

    Attributes:
        retriever: a name of `retrieval.registry.RETRIEVERS`.
        pool: M, the most records a selector may choose from.
        near_duplicate_threshold: cosine from which on a record counts as the target itself.
        encoder: of the pools, the near-duplicate rule and what controllers see: a name of
            `retrieval.encoders.ENCODERS`, a folder or a hub id; None is the default one. A folder
            is kept with its full path. Retrievers named after a model keep theirs, and so does
            matching, which has a setting of its own.
    """

    retriever: str = "dense"
    pool: int = 20
    near_duplicate_threshold: float = DEFAULT_THRESHOLD
    encoder: str | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        if self.pool < 1:
            raise ConfigError(f"retrieval.pool must be at least 1, not {self.pool}")
        if self.retriever not in RETRIEVERS:
            raise UnknownNameError("retriever", self.retriever, RETRIEVERS)
        object.__setattr__(self, "encoder", located_encoder(self.encoder))

    @property
    def encoder_name(self) -> str:
        """What the encoder is called where no path of this machine may stand."""
        return DEFAULT_ENCODER if self.encoder is None else model_name(self.encoder)


@dataclass(frozen=True, slots=True)
class PooledExample:
    """An example and the records a selector may choose from."""

    example: Example
    pool: Pool


def pooled(
    dataset: Dataset,
    examples: Sequence[Example],
    controls: LeakageControls,
    retriever: Retriever,
    limit: int,
) -> Iterator[PooledExample]:
    """Pools of at most `limit` legal records, in the order of the examples."""
    requests = [example.request for example in examples]
    legal = controls.legal_many(
        requests,
        [dataset.history(request) for request in requests],
        [example.reference for example in examples],
    )
    if isinstance(retriever, PreparingRetriever):
        retriever.prepare(requests, [history.records for history in legal])
    for example, history in zip(examples, legal, strict=True):
        yield PooledExample(example, retriever.retrieve(example.request, history.records, limit))


def collect_pools(
    dataset: Dataset,
    examples: Sequence[Example],
    controls: LeakageControls,
    retriever: Retriever,
    limit: int,
    *,
    on_step: OnStep = silent,
) -> list[PooledExample]:
    """All of them, saying how far it is."""
    found = []
    for one in pooled(dataset, examples, controls, retriever, limit):
        found.append(one)
        on_step(f"{dataset.task.name}: retrieving", len(found), len(examples))
    return found


def build_stages(config: RetrievalConfig) -> tuple[LeakageControls, Retriever]:
    """Leakage controls and retriever that share one encoder and its disk cache."""
    encoder = cached_encoder(config.encoder)
    controls = LeakageControls(encoder, config.near_duplicate_threshold)
    own_encoder = encoder if config.retriever in WITH_DEFAULT_ENCODER else None
    return controls, build_retriever(config.retriever, own_encoder)


def cached_encoder(name: str | None) -> CachedEncoder:
    """An encoder as settings name it, with its disk cache."""
    return CachedEncoder(load_encoder() if name is None else load_encoder(name))


WITH_DEFAULT_ENCODER = {"dense", "mmr"}
"""Retrievers that take the encoder of the leakage controls; others bring their own or need none."""
