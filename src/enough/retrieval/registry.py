"""The retrievers by name. To add one, write its class in a file of its own and one line here.

In: a name. Out: a `Retriever`. What is heavy is imported when it is built, not before.
"""

from __future__ import annotations

from collections.abc import Callable

from enough.errors import MissingExtraError, UnknownNameError
from enough.protocols import Encoder, Retriever
from enough.retrieval.bm25 import BM25Retriever
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.diversity import DiversityRetriever
from enough.retrieval.embedding_cache import CachedEncoder
from enough.retrieval.encoders import DEFAULT_ENCODER, load_encoder
from enough.retrieval.random_order import RandomRetriever
from enough.retrieval.recency import RecencyRetriever

Builder = Callable[[Encoder | None, int], Retriever]
"""From an encoder to use in place of the usual one, and a seed."""


def build_retriever(name: str, encoder: Encoder | None = None, seed: int = 0) -> Retriever:
    """A retriever of the table.

    Args:
        name: a key of `RETRIEVERS`.
        encoder: for those that embed; None loads the one the name stands for, with a disk cache.
        seed: for those that draw.
    """
    if name not in RETRIEVERS:
        raise UnknownNameError("retriever", name, RETRIEVERS)
    return RETRIEVERS[name](encoder, seed)


def _dense(encoder_name: str) -> Builder:
    return lambda encoder, _: DenseRetriever(encoder or _cached(encoder_name))


def _cached(encoder_name: str) -> Encoder:
    return CachedEncoder(load_encoder(encoder_name))


def _colbert(_encoder: Encoder | None, _seed: int) -> Retriever:
    try:
        from enough.retrieval.late_interaction import LateInteractionRetriever  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("the retriever 'colbert'", "hf") from error
    return LateInteractionRetriever.load()


RETRIEVERS: dict[str, Builder] = {
    "bm25": lambda _encoder, _seed: BM25Retriever(),
    "dense": _dense(DEFAULT_ENCODER),
    "contriever": _dense("contriever"),
    "qwen3-embedding": _dense("qwen3-embedding"),
    "bge-m3": _dense("bge-m3"),
    "colbert": _colbert,
    "mmr": lambda encoder, _seed: DiversityRetriever(encoder or _cached(DEFAULT_ENCODER)),
    "recency": lambda _encoder, _seed: RecencyRetriever(),
    "random": lambda _encoder, seed: RandomRetriever(seed),
}
