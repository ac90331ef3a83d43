"""BM25 against the official scorer, and on histories it was not made for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from enough.retrieval.bm25 import BM25Retriever
from tests.conftest import make_record, make_request

FILMS = [
    "A keeper of a lighthouse finds a letter in the wall of the tower and reads it.",
    "A letter from the sea: the keeper and his daughter rebuild a lighthouse after the storm.",
    "Two thieves plan the theft of a painting, and one of them plans the theft of the other.",
    "In the city of the future nobody may read; a thief steals the last letter of the alphabet.",
    "The storm, the storm, the storm: a documentary about the weather of the coast.",
    "A wedding.",
]
QUERY = "A keeper hides the letter in the lighthouse before the storm before the war"


def test_scores_are_those_of_the_official_scorer() -> None:
    documents = [text.split() for text in FILMS]
    query = QUERY.split()
    expected = BM25Okapi(documents).get_scores(query)
    assert sum("the" in words for words in documents) > len(documents) / 2  # a floored word
    np.testing.assert_allclose(BM25Retriever().scores(query, documents), expected, rtol=1e-12)


@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), max_size=8), min_size=1, max_size=9),
    st.lists(st.sampled_from("abcdefgxyz"), max_size=8),
)
def test_scores_are_those_of_the_official_scorer_on_any_words(
    documents: list[list[str]], query: list[str]
) -> None:
    found = BM25Retriever().scores(query, documents)
    if not any(documents):  # the official scorer divides by zero here
        assert not found.any()
    else:
        expected = BM25Okapi(documents).get_scores(query)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_ranking_is_the_official_one_on_real_histories(real_data: Path) -> None:
    with gzip.open(real_data / "LaMP_5" / "histories.jsonl.gz", "rt", encoding="utf-8") as lines:
        users = [json.loads(line)["records"] for line, _ in zip(lines, range(25), strict=False)]
    for records in users:
        query, *documents = [f"{r['title']} {r['abstract']}".split() for r in records]
        expected = BM25Okapi(documents).get_scores(query)
        found = BM25Retriever().scores(query, documents)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        assert (np.argsort(-found, kind="stable") == np.argsort(-expected, kind="stable")).all()


def test_scores_are_those_of_bm25s_where_it_has_the_same_formula() -> None:
    documents = [text.split() for text in FILMS]
    library = bm25s.BM25(k1=1.5, b=0.75, method="atire", idf_method="robertson", dtype="float64")
    library.index(documents, show_progress=False)
    rare = ["keeper", "letter", "thief", "lighthouse", "city", "lighthouse"]
    expected = library.get_scores(rare)
    np.testing.assert_allclose(BM25Retriever().scores(rare, documents), expected, rtol=1e-12)


def test_common_words_get_a_share_of_the_mean_idf() -> None:
    documents = [["a", "b"], ["a", "c"], ["a", "d"], ["e", "f"], ["g", "h"]]
    # "a" is in 3 of 5: idf ln(2.5/3.5); the seven others are in one: ln(4.5/1.5).
    floor = 0.25 * (np.log(2.5 / 3.5) + 7 * np.log(3)) / 8
    expected = [floor] * 3 + [0.0] * 2  # all lengths equal, one occurrence: the factor is 1
    np.testing.assert_allclose(BM25Retriever().scores(["a"], documents), expected)


def test_best_record_first_and_ties_in_history_order() -> None:
    history = tuple(make_record(i + 1, context=text) for i, text in enumerate(FILMS + FILMS[:1]))
    request = make_request(input=f"description: {QUERY}")
    pool = BM25Retriever().retrieve(request, history, 4)
    assert [c.record.id for c in pool][:2] == ["r1", "r7"]
    assert pool[0].score == pool[1].score
    assert len(pool) == 4


@pytest.mark.parametrize(
    "contexts", [[], [""], ["", ""], ["one"], ["same text"] * 3, ["{x} \ud800"]]
)
@pytest.mark.parametrize("query", ["", "same", "nothing shared", "\ud800"])
def test_degenerate_histories_and_queries(contexts: list[str], query: str) -> None:
    history = tuple(make_record(i + 1, context=text) for i, text in enumerate(contexts))
    pool = BM25Retriever().retrieve(make_request(input=f"description: {query}"), history, 5)
    assert [c.record.id for c in pool] == [r.id for r in history]
    assert all(np.isfinite(c.score) for c in pool)
