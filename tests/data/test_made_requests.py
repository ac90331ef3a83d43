"""Requests out of histories: the last records, with enough before them, and never the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from enough.cli import app
from enough.data.folders import read_folder
from enough.data.leakage import LeakageControls
from enough.data.made_requests import RequestConfig, make_requests
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.moment import parse_moment
from enough.records import Dataset, Record
from enough.tasks import Task

REPLIES = Task(
    name="support-replies",
    description="Answer as this agent would.",
    context_field="message",
    action_field="reply",
    metadata_fields=("channel",),
    query_pattern="Customer: (.*)",
)
WORDING = "Customer: {message}"


def record(day: int, *, message: str = "", dated: bool = True, **more: str) -> Record:
    date = f"2024-01-{day:02}" if dated else None
    return Record(
        id=f"r{day}",
        owner="ann",
        context=message or f"question {day}",
        action=more.pop("reply", f"answer {day}"),
        date=date,
        moment=parse_moment(date) if date else None,
        metadata=tuple(more.items()),
    )


def dataset(*records: Record, task: Task = REPLIES) -> Dataset:
    return Dataset(task, {"ann": records}, {})


def days(found: Dataset) -> dict[str, list[str]]:
    return {s: [e.request.source_id or "" for e in some] for s, some in found.splits.items()}


def test_the_last_are_asked_again_the_very_last_in_dev() -> None:
    made = make_requests(dataset(*map(record, range(1, 9))), RequestConfig(WORDING, least=2))
    assert days(made.dataset) == {"train": ["r5", "r6", "r7"], "dev": ["r8"]}
    (example,) = made.dataset.splits["dev"]
    assert (example.request.input, example.reference) == ("Customer: question 8", "answer 8")
    assert (example.request.query, example.request.date) == ("question 8", "2024-01-08")
    assert (made.users, made.left_out, made.undated) == (1, 0, 0)


@given(
    count=st.integers(0, 8), train=st.integers(0, 5), dev=st.integers(0, 5), least=st.integers(0, 5)
)
def test_as_many_as_there_are(count: int, train: int, dev: int, least: int) -> None:
    if train + dev == 0:
        return
    config = RequestConfig(WORDING, train, dev, least)
    made = make_requests(dataset(*map(record, range(1, count + 1))), config)
    fit = [f"r{day}" for day in range(1, count + 1) if day > least]
    late = fit[-dev:] if dev else []
    early = fit[: len(fit) - len(late)]
    expected = {"train": early[-train:] if train else [], "dev": late}
    assert days(made.dataset) == {name: some for name, some in expected.items() if some}


def test_who_has_too_few_or_nothing_to_ask_is_left_out() -> None:
    few = dataset(record(1), record(2))
    assert make_requests(few, RequestConfig(WORDING, least=2)).left_out == 1
    same_day = dataset(record(1), record(1), record(1))
    assert make_requests(same_day, RequestConfig(WORDING, least=1)).left_out == 1
    silent = dataset(record(1), record(2, message=" "))
    assert make_requests(silent, RequestConfig(WORDING, least=1)).left_out == 1


def test_without_dates_the_order_of_the_log_counts_and_it_is_said() -> None:
    undated = dataset(*(record(day, dated=False) for day in (1, 2, 3)))
    made = make_requests(undated, RequestConfig(WORDING, least=2))
    assert days(made.dataset) == {"dev": ["r3"]}
    assert made.undated == 1


def test_other_fields_and_items_may_be_named() -> None:
    one = record(2, channel="mail")
    about = Record(one.id, "ann", one.context, one.action, one.date, one.moment, one.metadata, "p7")
    made = make_requests(
        dataset(record(1), about), RequestConfig("Customer: {message} by {channel}", least=1)
    )
    (example,) = made.dataset.splits["dev"]
    assert example.request.input == "Customer: question 2 by mail"
    assert example.request.source_id == "p7", "whatever else is about that item is hidden, too"


@pytest.mark.parametrize(
    ("wording", "error", "said"),
    [
        ("Customer: {reply}", ConfigError, "the answer itself"),
        ("Customer: {mesage}", UnknownNameError, "did you mean 'message'"),
        ("Customer: {message", ConfigError, "cannot be read"),
        ("Say: {message}", ConfigError, "does not match"),
        ("Customer: hello", ConfigError, "all requests would ask the same; put {message} into it"),
    ],
)
def test_wordings_that_cannot_be(wording: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make_requests(dataset(*map(record, range(1, 9))), RequestConfig(wording))


def test_an_action_outside_the_answers_is_named() -> None:
    closed = Task("mood", "Say it.", "reply", "message", labels=("good", "bad"))
    with pytest.raises(DataError, match="record 'r2': 'so so' is not an answer of mood"):
        make_requests(
            dataset(record(1, reply="good"), record(2, reply="so so"), task=closed),
            RequestConfig("{message}", least=1),
        )


def test_nothing_to_make() -> None:
    posts = Task("posts", "Write one.", "text")
    with pytest.raises(ConfigError, match="posts has no context_field"):
        make_requests(dataset(record(1), task=posts), RequestConfig("Paraphrase: {text}"))
    with pytest.raises(ConfigError, match="both 0"):
        RequestConfig(WORDING, train=0, dev=0)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    records = [
        {"id": f"r{day}", "date": f"2024-01-{day:02}", "message": f"q {day}", "reply": f"a {day}"}
        for day in range(1, 9)
    ]
    folder = tmp_path / "my-log"
    folder.mkdir()
    lines = [
        {"user_id": name, "records": records[: 8 - 6 * (name == "bob")]} for name in ("ann", "bob")
    ]
    (folder / "histories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "task.toml").write_text(
        'name = "support-replies"\ndescription = "Answer."\ncontext_field = "message"\n'
        'action_field = "reply"\nquery_pattern = "Customer: (.*)"\n'
    )
    return folder


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_folder_becomes_one_that_everything_reads(log: Path) -> None:
    found = json.loads(run("data", "requests", log, "--wording", WORDING, "--json"))
    assert found["requests"] == {"train": 3, "dev": 1}
    assert (found["users"], found["left_out"]) == (1, 1)
    read = read_folder(log)
    (example,) = read.splits["dev"]
    legal = LeakageControls(None).legal(example.request, read.history(example.request))
    assert [one.id for one in legal.records] == [f"r{day}" for day in range(1, 8)], "not itself"
    with pytest.raises(DataError, match="is there already; nothing was written"):
        run("data", "requests", log, "--wording", WORDING)


def test_in_words(log: Path) -> None:
    text = run("data", "requests", log, "--wording", WORDING, "--dev", 2, "--train", 0)
    assert "dev.jsonl: 2 requests" in text
    assert "1 users have a request; 1 have too few records" in text
    assert not (log / "train.jsonl").exists()


def test_too_much_asked_writes_nothing(log: Path) -> None:
    with pytest.raises(DataError, match="lower --least"):
        run("data", "requests", log, "--wording", WORDING, "--least", 20)
    assert {one.name for one in log.iterdir()} == {"histories.jsonl", "task.toml"}
