"""Dense retrieval and MMR on vectors that can be followed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from enough.errors import ConfigError
from enough.protocols import Floats
from enough.records import Record
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.diversity import DiversityRetriever, marginal_relevance
from enough.retrieval.recency import RecencyRetriever
from tests.conftest import make_record, make_request

VECTORS = {"q": [2.0, 0.0], "a": [1.0, 0.0], "b": [3.0, 4.0], "c": [0.0, 1.0], "d": [-1.0, 0.0]}


class TableEncoder:
    """Vectors from a table."""

    fingerprint = "table"

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        self.kinds.append(kind)
        return np.array([VECTORS[text] for text in texts], np.float32)


def records(names: str) -> tuple[Record, ...]:
    return tuple(make_record(i + 1, id=f"{n}{i}", context=n) for i, n in enumerate(names))


REQUEST = make_request(input="description: q")


def test_dense_is_the_dot_product_of_query_and_document() -> None:
    encoder = TableEncoder()
    pool = DenseRetriever(encoder).retrieve(REQUEST, records("cabad"), 4)
    assert [(c.record.id, c.score) for c in pool] == [("b2", 6), ("a1", 2), ("a3", 2), ("c0", 0)]
    assert encoder.kinds == ["query", "document"]


def test_equal_records_tie_wherever_they_are() -> None:
    rng = np.random.default_rng(0)
    VECTORS["long"] = list(rng.normal(size=2))
    history = records(["long"] * 37)  # type: ignore[arg-type]
    pool = DenseRetriever(TableEncoder()).retrieve(REQUEST, history, 37)
    assert [c.record for c in pool] == list(history)


def test_mmr_by_hand() -> None:
    # cosines with q: a 1, a' 1, b .6, c 0, d -1; λ = .5
    # 1. a: .5.  2. a' .5-.5=0, b .3-.5·.6=0, c 0, d -.5 → a' is first of the equals.
    # 3. b 0 (cos with a is still the highest), c 0 → b: 0.  4. c 0 - .5·.8=-.4, d -.5 → c.
    pool = DiversityRetriever(TableEncoder(), relevance_weight=0.5).retrieve(
        REQUEST, records("aabcd"), 4
    )
    assert [c.record.id for c in pool] == ["a0", "a1", "b2", "c3"]
    np.testing.assert_allclose([c.score for c in pool], [0.5, 0.0, 0.0, -0.4], atol=1e-7)


def test_mmr_weights() -> None:
    history = records("aabc")
    only_relevance = DiversityRetriever(TableEncoder(), relevance_weight=1.0)
    assert [c.record.id for c in only_relevance.retrieve(REQUEST, history, 4)] == [
        "a0",
        "a1",
        "b2",
        "c3",
    ]
    novelty = DiversityRetriever(TableEncoder(), relevance_weight=0.3)
    # a .3; then a' .3-.7 = -.4, b .18-.42 = -.24, c 0 → c, and then b (-.38) before a' (-.4).
    assert [c.record.id for c in novelty.retrieve(REQUEST, history, 4)] == ["a0", "c3", "b2", "a1"]
    with pytest.raises(ConfigError, match="relevance_weight"):
        DiversityRetriever(TableEncoder(), relevance_weight=1.5)


def test_mmr_over_a_base_retriever() -> None:
    mmr = DiversityRetriever(TableEncoder(), RecencyRetriever(), relevance_weight=0.5, depth=2)
    assert [c.record.id for c in mmr.retrieve(REQUEST, records("abcd"), 2)] == ["c2", "d3"]
    assert {c.record.id for c in mmr.retrieve(REQUEST, records("abcd"), 3)} == {"b1", "c2", "d3"}


def test_mmr_values_never_rise() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(60, 5)).astype(np.float32)
    vectors[7] = 0
    vectors[9] = np.nan
    places, values = marginal_relevance(vectors[0], vectors, 0.4, 100)
    assert sorted(places) == list(range(60))
    assert values == sorted(values, reverse=True)
