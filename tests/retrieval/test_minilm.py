"""The real default encoder, where its weights can be had."""

from __future__ import annotations

import numpy as np
import pytest

from enough.errors import ModelError
from enough.protocols import Encoder
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.encoders import load_encoder
from tests.conftest import make_record, make_request


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    try:
        return load_encoder()
    except ModelError as error:
        pytest.skip(f"the weights cannot be had here: {error}")


def test_similarities_are_the_published_ones(minilm: Encoder) -> None:
    # The example on the first page of the sentence-transformers documentation.
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = minilm.encode(texts, "document")
    assert vectors.shape == (3, 384)
    expected = [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]]
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=2e-3)


def test_a_vector_does_not_depend_on_its_company_to_the_last_bit(minilm: Encoder) -> None:
    """Otherwise labels would depend on what a cache happened to hold before."""
    rng = np.random.default_rng(0)
    words = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove"]
    texts = [" ".join(rng.choice(words, rng.integers(1, 80))) for _ in range(40)]
    together = minilm.encode(texts, "document")
    assert (minilm.encode(texts[:1], "document") == together[:1]).all()
    for _ in range(4):
        some = rng.permutation(40)[: int(rng.integers(2, 15))]
        assert (minilm.encode([texts[i] for i in some], "document") == together[some]).all()


def test_hostile_texts(minilm: Encoder) -> None:
    texts = ["", "\ud800", "x" * 1_000_000, "word " * 200_000, "[SEP] [MASK]"]
    vectors = minilm.encode(texts, "document")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


def test_ranking_by_meaning(minilm: Encoder) -> None:
    history = (
        make_record(1, context="He drove to the stadium."),
        make_record(2, context="It's so sunny outside!"),
    )
    request = make_request(input="description: The weather is lovely today.")
    pool = DenseRetriever(minilm).retrieve(request, history, 2)
    assert [c.record.id for c in pool] == ["r2", "r1"]
    np.testing.assert_allclose([c.score for c in pool], [0.6660, 0.1046], atol=2e-3)
