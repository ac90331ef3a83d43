"""What every retriever of the table promises, whatever the history."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from enough.errors import UnknownNameError
from enough.protocols import Retriever
from enough.records import History, Pool
from enough.retrieval.late_interaction import LateInteractionRetriever
from enough.retrieval.registry import RETRIEVERS, build_retriever
from tests.conftest import make_record, make_request
from tests.retrieval.tiny import BagEncoder, save_colbert

REQUEST = make_request(input="description: w1 w2 w3 before w4")
HOSTILE = [
    "",
    "   ",
    "\ud800 lone surrogate",
    "{context} {0} }{",
    "<PROFILE>\n</PROFILE>",
    "[MASK] [CLS] [SEP]",
    "\x00\u202e\ufeff",
    "w1 " * 100_000,
    "x" * 300_000,
    "…!?,.",
    "日本語のテキスト",
]


@pytest.fixture(scope="module")
def colbert(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = save_colbert(tmp_path_factory.mktemp("colbert"))
    return LateInteractionRetriever.load(str(folder), "cpu", precision="float32")


@pytest.fixture(params=sorted(RETRIEVERS))
def retriever(request: pytest.FixtureRequest, colbert: Retriever) -> Retriever:
    """Each of the table; those that embed get a small encoder, ColBERT a small checkpoint."""
    if request.param == "colbert":
        return colbert
    return build_retriever(request.param, BagEncoder(), seed=1)


def history_of(texts: list[str]) -> History:
    return tuple(make_record(i, context=text) for i, text in enumerate(texts, start=1))


def mixed(count: int = 30) -> History:
    return history_of([f"w{i % 7} w{i % 3} w{i % 11}" for i in range(count)])


def check(pool: Pool, history: History, limit: int) -> None:
    assert len(pool) == min(limit, len(history))
    places = [history.index(candidate.record) for candidate in pool]
    assert len(set(places)) == len(places)
    scores = [candidate.score for candidate in pool]
    assert all(math.isfinite(score) for score in scores)
    ranked = [(-score, place) for score, place in zip(scores, places, strict=True)]
    assert ranked == sorted(ranked)  # best first, ties in the order of the history


@pytest.mark.parametrize("limit", [0, 1, 20, 30, 99])
def test_at_most_limit_distinct_records_best_first(retriever: Retriever, limit: int) -> None:
    check(retriever.retrieve(REQUEST, mixed(), limit), mixed(), limit)


def test_deterministic_and_independent_of_earlier_calls(retriever: Retriever) -> None:
    first = retriever.retrieve(REQUEST, mixed(), 9)
    retriever.retrieve(make_request(id="other", input="description: w5"), mixed(12), 9)
    assert retriever.retrieve(REQUEST, mixed(), 9) == first


def test_a_smaller_limit_is_a_prefix(retriever: Retriever) -> None:
    assert retriever.retrieve(REQUEST, mixed(), 20)[:5] == retriever.retrieve(REQUEST, mixed(), 5)


def test_empty_history(retriever: Retriever) -> None:
    assert retriever.retrieve(REQUEST, (), 20) == ()


def test_history_of_one(retriever: Retriever) -> None:
    for history in (mixed(1), history_of([""])):
        check(retriever.retrieve(REQUEST, history, 20), history, 20)


def test_identical_records(retriever: Retriever) -> None:
    history = history_of(["w1 w2 w3"] * 12)
    check(retriever.retrieve(REQUEST, history, 7), history, 7)


@pytest.mark.parametrize("query", ["w1", "", "\ud800", "{text} {0}", "w2 " * 50_000])
def test_hostile_texts(retriever: Retriever, query: str) -> None:
    history = history_of(HOSTILE)
    request = make_request(input=f"description: {query}")
    check(retriever.retrieve(request, history, 20), history, 20)


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bm25'"):
        build_retriever("bm2")


def test_building_loads_the_encoder_the_name_stands_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from enough.retrieval import registry

    loaded: list[str] = []

    def load(name: str) -> BagEncoder:
        loaded.append(name)
        return BagEncoder()

    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path))
    monkeypatch.setattr(registry, "load_encoder", load)
    for name in ("dense", "contriever", "qwen3-embedding", "bge-m3", "mmr"):
        build_retriever(name)
    assert loaded == ["minilm", "contriever", "qwen3-embedding", "bge-m3", "minilm"]
