"""The postprocessor inside the real llama-index-core."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from enough.errors import DataError
from enough.online.personaliser import Enough
from enough.online.untrained import UntrainedConfig
from enough.records import Record, Request
from tests.online.stand_ins import FOR_FREE, TWEETS, controlled, tweet, untrained

pytest.importorskip("llama_index.core", reason="needs the extra 'llama-index'")

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TextNode

from enough.integrations.llama_index import EnoughPostprocessor

TEXTS = ["omg the bus never came", "no coffee left", "late bus home again", "rain and late bus"]
SOME = UntrainedConfig(0.3, 0.1, 0.5)
NEVER = UntrainedConfig(least_relevance=5)


def nodes(**metadata: Any) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=text, id_=f"n{n}", metadata=metadata), score=0.9 - n / 10)
        for n, text in enumerate(TEXTS)
    ]


def postprocessor(app: Enough, **changes: Any) -> EnoughPostprocessor:
    values: dict[str, Any] = {"input_template": "Paraphrase: {query}", "task": "LaMP-7"}
    return EnoughPostprocessor(**({"enough": app} | values | changes))


@pytest.mark.parametrize("app", [untrained(SOME), controlled(max_records=2)])
def test_what_stays_is_what_enough_selects(app: Enough) -> None:
    given = nodes()
    kept = postprocessor(app).postprocess_nodes(given, query_str="late bus home")
    history = [tweet(f"n{n}", text, owner="user") for n, text in enumerate(TEXTS)]
    selected = app.select(Request("q", "user", TWEETS, "Paraphrase: late bus home"), history)
    assert 0 < len(kept) < len(given)
    assert [one.node.node_id for one in kept] == [record.id for record in selected.records]
    for number, one in enumerate(kept, start=1):
        how = one.node.metadata["enough"]
        assert (how["step"], how["reason"]) == (number, selected.reason)
        assert one.score == next(n.score for n in given if n.node.node_id == one.node.node_id)
        for mode in (MetadataMode.LLM, MetadataMode.EMBED):
            assert "step" not in one.node.get_content(mode)  # for the app, not for the model
    assert [one.node.metadata for one in given] == [{}] * 4  # copies are marked


def test_stopping_at_once_gives_an_empty_list() -> None:
    assert postprocessor(untrained(NEVER)).postprocess_nodes(nodes(), query_str="late bus") == []
    assert postprocessor(untrained()).postprocess_nodes([], query_str="late bus") == []


def test_contexts_and_actions() -> None:
    films = postprocessor(untrained(FOR_FREE), task="LaMP-2", input_template="description: {query}")
    kept = films.postprocess_nodes(nodes(action="classic"), query_str="late bus")
    assert [one.node.node_id for one in kept] == ["n2", "n3", "n0"]  # n1 has no word of it
    assert "action: classic" in kept[0].node.get_content(MetadataMode.LLM)
    with pytest.raises(DataError, match=r"documents\[0\]: records of LaMP-2 need the action"):
        films.postprocess_nodes(nodes(), query_str="late bus")
    with pytest.raises(DataError, match="depends on the query; give one"):
        films.postprocess_nodes(nodes(action="classic"))


def test_a_mapping_of_ones_own() -> None:
    def as_record(node: BaseNode) -> Record:
        return tweet(node.node_id, node.get_content().upper())

    shouted = postprocessor(untrained(FOR_FREE), as_record=as_record)
    kept = shouted.postprocess_nodes(nodes(), query_str="COFFEE")
    assert kept[0].node.node_id == "n1"


class Found(BaseRetriever):
    """Whatever is asked, all nodes."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes()


@pytest.mark.parametrize(("config", "some"), [(SOME, True), (NEVER, False)])
def test_in_a_query_engine(config: UntrainedConfig, some: bool) -> None:
    few = postprocessor(untrained(config))
    engine = RetrieverQueryEngine.from_args(Found(), llm=MockLLM(), node_postprocessors=[few])
    expected = few.postprocess_nodes(nodes(), query_str="late bus home")
    answered = engine.query("late bus home")
    assert [one.node.node_id for one in answered.source_nodes] == [
        one.node.node_id for one in expected
    ]
    assert bool(answered.source_nodes) is some
    if some:  # the mock repeats its prompt
        assert expected[0].node.get_content() in str(answered)
    answered = asyncio.run(engine.aquery("late bus home"))
    assert len(answered.source_nodes) == len(expected)
