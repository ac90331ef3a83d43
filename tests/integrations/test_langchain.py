"""The adapters inside the real langchain-core."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from enough.errors import ConfigError, DataError, UnknownNameError
from enough.online.personaliser import Enough
from enough.online.untrained import UntrainedConfig
from enough.prompts.serialise import parse_record
from enough.records import Record, Request
from enough.tasks import Task
from tests.conftest import make_record
from tests.online.stand_ins import FOR_FREE, TWEETS, controlled, tweet, untrained

pytest.importorskip("langchain_core", reason="needs the extra 'langchain'")

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from enough.integrations.langchain import EnoughCompressor, EnoughRetriever

TEMPLATE = "Paraphrase: {query}"
TEXTS = ["omg the bus never came", "no coffee left", "late bus home again", "rain and late bus"]
SOME = UntrainedConfig(0.3, 0.1, 0.5)
NEVER = UntrainedConfig(least_relevance=5)


def documents(**metadata: object) -> list[Document]:
    return [
        Document(text, id=f"d{n}", metadata={"page": n} | metadata) for n, text in enumerate(TEXTS)
    ]


def compressor(app: Enough, **changes: Any) -> EnoughCompressor:
    values: dict[str, Any] = {"enough": app, "task": "LaMP-7", "input_template": TEMPLATE}
    return EnoughCompressor(**(values | changes))


@pytest.mark.parametrize("app", [untrained(SOME), controlled(max_records=2)])
def test_what_stays_is_what_enough_selects(app: Enough) -> None:
    given = documents()
    kept = compressor(app).compress_documents(given, "late bus home")
    history = [tweet(f"d{n}", text, owner="user") for n, text in enumerate(TEXTS)]
    selected = app.select(Request("q", "user", TWEETS, "Paraphrase: late bus home"), history)
    assert 0 < len(kept) < len(given)
    assert [one.id for one in kept] == [record.id for record in selected.records]
    for number, (one, step) in enumerate(zip(kept, selected.trace, strict=False), start=1):
        how = one.metadata["enough"]
        value = next(value for value in step.records if value.action == one.id)
        assert (how["step"], how["reason"]) == (number, selected.reason)
        assert (how["value"], how["margin"]) == (value.net, step.margin)
        assert [how[part] for part in selected.parts] == list(value.parts)
        assert how["policy"] == selected.policy
        assert one.page_content == TEXTS[one.metadata["page"]]
    json.dumps([one.metadata for one in kept], allow_nan=False)
    assert given == documents()  # copies are marked, not what came


def test_stopping_at_once_gives_an_empty_list() -> None:
    assert compressor(untrained(NEVER)).compress_documents(documents(), "late bus") == []
    assert compressor(untrained()).compress_documents([], "late bus") == []


def test_texts_are_contexts_where_the_task_has_them() -> None:
    seen: list[Record] = []

    class Listening(Enough):
        def select(self, request: Request, history: Any) -> Any:
            seen.extend(history)
            return super().select(request, history)

    app = untrained(FOR_FREE)
    app.__class__ = Listening
    given = [
        Document("A keeper.", metadata={"action": "classic", "date": "2020", "user": "ann"}),
        Document("[a line]", metadata={"context": "A wave.", "tag": "action"}, id="w"),
    ]
    movies = compressor(app, task="LaMP-2", input_template="description: {query}")
    kept = movies.compress_documents(given, "A keeper and a wave.")
    assert len(kept) == 2
    assert seen == [
        Record("#0", "ann", "A keeper.", "classic", "2020", (2020,)),
        Record("w", "ann", "A wave.", "action"),
    ]


def test_a_mapping_of_ones_own() -> None:
    def as_record(document: Document) -> Record:
        return tweet(f"page {document.metadata['page']}", document.page_content)

    kept = compressor(untrained(FOR_FREE), as_record=as_record).compress_documents(
        documents(), "coffee"
    )
    assert kept[0].page_content == "no coffee left"


def test_the_same_document_twice_counts_once() -> None:
    app = untrained(FOR_FREE)
    twice = [document for document in documents() for _ in range(2)]
    kept = compressor(app).compress_documents(twice, "late bus")
    assert sorted(str(one.id) for one in kept) == ["d0", "d2", "d3"]  # d1 has no word of it


def test_a_tasks_file_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "task.toml"
    file.write_text('name = "posts"\ndescription = "Write."\naction_field = "post"\n')
    posts = compressor(untrained(FOR_FREE), task=str(file), input_template="{query}")
    file.unlink()
    assert posts.task == Task(name="posts", description="Write.", action_field="post")
    assert posts.compress_documents(documents(), "coffee")[0].id == "d1"


def test_braces_in_a_query_are_the_users_own() -> None:
    kept = compressor(untrained(FOR_FREE)).compress_documents(documents(), "{query} {0} coffee")
    assert kept[0].id == "d1"


def test_errors_say_what_to_do() -> None:
    app = untrained()
    movies = compressor(app, task="LaMP-2", input_template="description: {query}")
    with pytest.raises(
        DataError, match=r"documents\[0\]: records of LaMP-2 need the action.*as_re"
    ):
        movies.compress_documents(documents(), "a film")
    mixed = [*documents(user="ann"), Document("hi", metadata={"user": "bob"})]
    with pytest.raises(DataError, match=r"documents\[4\]: it is of user 'bob'"):
        compressor(app).compress_documents(mixed, "late bus")
    with pytest.raises(DataError, match="of user 'ann', and the history of 'bob'"):
        compressor(app, user="bob").compress_documents(documents(user="ann"), "late bus")
    with pytest.raises(ConfigError, match=r"input_template .* has no"):
        compressor(app, input_template="Paraphrase:")
    with pytest.raises(UnknownNameError, match="unknown task 'LaMP-6'"):
        compressor(app, task="LaMP-6")
    with pytest.raises(DataError, match="does not have the form of LaMP-7"):
        compressor(app, input_template="{query}").compress_documents(documents(), "late bus")


def test_after_a_retriever_in_a_chain() -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(documents())
    found = store.as_retriever(search_kwargs={"k": 4})
    few = compressor(untrained(SOME))
    chain = found | RunnableLambda(lambda docs: few.compress_documents(docs, "late bus home"))
    direct = few.compress_documents(documents(), "late bus home")
    assert [one.id for one in chain.invoke("late bus home")] == [one.id for one in direct]


def test_many_at_once_without_waiting() -> None:
    few = compressor(untrained(SOME))
    queries = ["late bus home", "no coffee", "rain", "omg"] * 4

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(few.acompress_documents(documents(), q) for q in queries))

    assert asyncio.run(all_of_them()) == [few.compress_documents(documents(), q) for q in queries]


HISTORY = [tweet(f"t{n}", text, f"2020-01-0{n + 1}") for n, text in enumerate(TEXTS)]


def retriever(app: Enough, **changes: Any) -> EnoughRetriever:
    values: dict[str, Any] = {"enough": app, "task": TWEETS, "history": HISTORY}
    return EnoughRetriever(**(values | {"input_template": TEMPLATE} | changes))


def test_a_retriever_over_a_history() -> None:
    app = untrained(SOME)
    found = retriever(app).invoke("late bus home")
    selected = app.select(Request("q", "ann", TWEETS, "Paraphrase: late bus home"), HISTORY)
    assert [one.id for one in found] == [record.id for record in selected.records] != []
    for one, record in zip(found, selected.records, strict=True):
        line = parse_record(one.page_content)
        assert (line.task, line.action) == ("LaMP-7", record.action)
        assert line.metadata == (("date", record.date),)
        assert one.metadata["action"] == record.action
        assert one.metadata["user"] == "ann"
        assert one.metadata["enough"]["reason"] == selected.reason
    assert asyncio.run(retriever(app).ainvoke("late bus home")) == found
    assert retriever(app).batch(["late bus home"] * 3) == [found] * 3


def test_a_retriever_asks_for_the_history_each_time() -> None:
    growing: list[Record] = []
    ask = retriever(untrained(FOR_FREE), history=lambda: growing)
    assert ask.invoke("late bus") == []
    growing.extend(HISTORY[:2])
    assert len(ask.invoke("omg the bus no coffee")) == 2
    assert retriever(untrained(NEVER)).invoke("late bus") == []


def test_what_a_retriever_found_can_be_compressed() -> None:
    films = [make_record(n, context=f"A wave, part {n}.", metadata=()) for n in (1, 2)]
    app = untrained(FOR_FREE)
    template = "description: {query}"
    found = EnoughRetriever(
        enough=app, task="LaMP-2", history=films, input_template=template
    ).invoke("A wave")
    again = compressor(app, task="LaMP-2", input_template=template)
    assert again.compress_documents(found, "A wave") == found
