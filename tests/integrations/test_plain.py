"""Histories from dictionaries and from mem0's answers."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.errors import DataError, UnknownNameError
from enough.integrations.plain import history_from_dicts, history_from_mem0
from enough.moment import parse_moment
from enough.records import Record
from enough.tasks import LAMP_TASKS, Task
from tests.online.stand_ins import FOR_FREE, TWEETS, asking, untrained

REPLIES = Task(
    name="support-replies",
    description="Answer the customer as this agent would.",
    action_field="reply",
    context_field="message",
    metadata_fields=("channel",),
)
MOVIES = LAMP_TASKS["LaMP-2"]


def test_usual_names_become_records_oldest_first() -> None:
    rows: list[dict[str, object]] = [
        {"id": 7, "user": "ann", "input": "Is it here?", "output": "It is!", "time": "2024-05-02"},
        {"id": "b", "context": "Where?", "action": "On its way!", "created_at": "2024-03-01"},
    ]
    assert history_from_dicts(rows, REPLIES) == (
        "ann",
        (
            Record("b", "ann", "Where?", "On its way!", "2024-03-01", (2024, 3, 1)),
            Record("7", "ann", "Is it here?", "It is!", "2024-05-02", (2024, 5, 2)),
        ),
    )


def test_the_tasks_own_names_count_first() -> None:
    row = {
        "message": "Is it here?",
        "reply": "Yes",
        "channel": "mail",
        "input": "no",
        "output": "no",
        "source_id": "s1",
        "mood": "good",
    }
    ((owner, (record,)),) = [history_from_dicts([row], REPLIES)]
    assert owner == "user"  # nobody is named
    assert record == Record(
        "#0", "user", "Is it here?", "Yes", metadata=(("channel", "mail"),), source_id="s1"
    )


def test_a_usual_name_that_is_the_tasks_other_field() -> None:
    odd = replace(REPLIES, context_field="output", action_field="input")
    _, (record,) = history_from_dicts([{"input": "did", "output": "saw"}], odd)
    assert (record.context, record.action) == ("saw", "did")


def test_what_databases_give_as_objects() -> None:
    moment = datetime(2024, 5, 1, 12, 30, tzinfo=UTC)
    rows: list[dict[str, object]] = [
        {"id": UUID(int=5), "action": "a", "timestamp": moment},
        {"id": 2, "action": 4.0, "timestamp": date(2024, 5, 2)},
        {"id": 3, "action": "c", "timestamp": 1714700000},
    ]
    _, records = history_from_dicts(rows, REPLIES)
    assert [(r.id, r.date, r.action) for r in records] == [
        ("00000000-0000-0000-0000-000000000005", "2024-05-01T12:30:00+00:00", "a"),
        ("2", "2024-05-02", "4"),
        ("3", "2024-05-03T01:33:20+00:00", "c"),
    ]
    assert next(r.moment for r in records) == (2024, 5, 1, 12, 30, 0, 0)


def test_names_of_ones_own() -> None:
    rows = [{"key": "k", "question": "Where?", "answer": "Here", "input": "not this"}]
    names = {"id": "key", "context": "question", "action": "answer"}
    _, (record,) = history_from_dicts(rows, REPLIES, "bob", fields=names)
    assert record == Record("k", "bob", "Where?", "Here")
    with pytest.raises(
        UnknownNameError, match="unknown part of a record 'contxt'; did you mean 'c"
    ):
        history_from_dicts(rows, REPLIES, fields={"contxt": "question"})


def test_a_task_without_contexts_takes_none() -> None:
    _, (record,) = history_from_dicts([{"input": "seen", "output": "said"}], TWEETS)
    assert (record.context, record.action) == ("", "said")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [{"id": 1}],
            r"history\[0\]: records of .* need the action, and none of 'reply', 'action'",
        ),
        ([{"action": " "}], r"history\[0\]: .* need the action"),
        ([{"action": ["a"]}], r"history\[0\]: expected a string, found a list \(field 'action'\)"),
        ([{"action": "a"}, 3], r"history\[1\]: expected a dictionary, found 3"),
        (
            [{"action": "a", "timestamp": "soon"}],
            r"history\[0\]: not a time: .*soon.* \(field 'timestamp'\)",
        ),
        (
            [{"action": "a", "time": "2020", "date": "2021"}],
            r"history\[0\]: 'date' and 'time' differ, and each could be the date; say where",
        ),
        (
            [{"id": 1, "action": "a"}, {"id": 1, "action": "b"}],
            r"history\[1\]: another record has the id '1', too; ids are unique \(field 'id'\)",
        ),
        (
            [{"action": "a", "user_id": "ann"}, {"action": "b", "owner": "bob"}],
            r"history\[1\]: it is of user 'bob', and the history of 'ann'; .*\(field 'owner'\)",
        ),
    ],
)
def test_errors_name_the_place_and_the_field(rows: list[Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        history_from_dicts(rows, REPLIES)


def test_other_errors() -> None:
    with pytest.raises(DataError, match=r"history\[0\]: .* need the context, .* 'description'"):
        history_from_dicts([{"tag": "classic"}], MOVIES)
    with pytest.raises(DataError, match=r"history\[0\]: it is of user 'bob'.* of 'ann'"):
        history_from_dicts([{"action": "a", "user": "bob"}], REPLIES, "ann")


def test_the_same_row_twice_counts_once() -> None:
    row = {"id": 1, "action": "a"}
    _, records = history_from_dicts([row, row], REPLIES)
    assert len(records) == 1
    assert history_from_dicts([], REPLIES) == ("user", ())
    assert history_from_dicts([], REPLIES, "ann") == ("ann", ())


texts = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() != "")
dates = st.sampled_from([None, "2012", "2012-05-30", "2024-05-01T10:00:00+00:00"])


@given(st.lists(st.tuples(st.text(max_size=20), texts, dates, texts), max_size=6))
def test_records_written_as_rows_come_back(parts: list[tuple[str, str, str | None, str]]) -> None:
    written = [
        Record(
            f"r{n}",
            "ann",
            context if context.strip() else "",
            action,
            date,
            parse_moment(date),
            (("channel", channel),),
        )
        for n, (context, action, date, channel) in enumerate(parts)
    ]
    rows = [
        {"id": r.id, "user_id": "ann", "date": r.date, "message": r.context, "reply": r.action}
        | dict(r.metadata)
        for r in written
    ]
    owner, records = history_from_dicts(rows, REPLIES)
    assert owner == ("ann" if parts else "user")
    assert sorted(records, key=lambda r: r.id) == written
    if all(r.moment for r in written):
        assert [r.moment for r in records] == sorted(r.moment or () for r in written)


def test_they_can_be_selected_from() -> None:
    rows = [{"output": "omg the bus never came"}, {"output": "no coffee left"}]
    user, history = history_from_dicts(rows, TWEETS, "ann")
    assert user == "ann"
    selected = untrained(FOR_FREE).select(asking("late bus came"), history)
    assert next(record.id for record in selected.records) == "#0"


MEMORIES: list[dict[str, object]] = [
    {
        "id": "m1",
        "memory": "Likes short answers",
        "hash": "0b1c",
        "metadata": None,
        "score": 0.61,
        "created_at": "2024-07-20T10:29:36.630547-07:00",
        "updated_at": None,
        "user_id": "ann",
    },
    {
        "id": "m2",
        "memory": "Is it here?",
        "metadata": {"reply": "It is!", "channel": "mail", "date": "1999", "id": "no"},
        "score": 0.4,
        "created_at": "2024-01-01T00:00:00Z",
        "updated_at": "2024-02-01T00:00:00Z",
        "user_id": "ann",
    },
]


@pytest.mark.parametrize("found", [MEMORIES, {"results": MEMORIES, "relations": []}])
def test_memories(found: Any) -> None:
    owner, (second, first) = history_from_mem0(found, REPLIES)
    assert owner == "ann"
    assert (first.context, first.action) == ("", "Likes short answers")
    assert (first.id, first.date) == ("m1", "2024-07-20T10:29:36.630547-07:00")
    assert first.moment == (2024, 7, 20, 17, 29, 36, 630547)
    assert (second.id, second.context, second.action) == ("m2", "Is it here?", "It is!")
    assert (second.date, second.metadata) == ("2024-02-01T00:00:00Z", (("channel", "mail"),))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            {"memories": []},
            r"not what mem0's search\(\) gives: .* but 'memories' \(field 'results'\)",
        ),
        ({"results": "none"}, r"expected a list of memories \(field 'results'\)"),
        ([{"id": "m1", "memory": ""}], r"memories\[0\]: a memory has a text \(field 'memory'\)"),
        ({"results": ["m1"]}, r"results\[0\]: expected a dictionary, found 'm1'"),
        (
            [{"memory": "a", "user_id": "ann"}, {"memory": "b", "user_id": "bob"}],
            r"memories\[1\]: it is of user 'bob'",
        ),
    ],
)
def test_wrong_memories(found: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        history_from_mem0(found, REPLIES)


def test_a_memory_is_no_context() -> None:
    with pytest.raises(DataError, match=r"results\[0\]: .* need the context.* memory's metadata"):
        history_from_mem0({"results": [MEMORIES[0]]}, MOVIES)


def test_plain_histories_need_no_framework() -> None:
    code = (
        "import sys; import enough.integrations.plain, enough.integrations.documents; "
        "print([m for m in ('torch', 'pydantic', 'langchain_core') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [("langchain", "langchain_core", "langchain"), ("llama_index", "llama_index", "llama-index")],
)
def test_a_missing_library_is_named(module: str, library: str, extra: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from enough.errors import MissingExtraError\n"
        f"try:\n    import enough.integrations.{module}\n"
        "except MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pip install 'enough[{extra}]'" in done.stdout
