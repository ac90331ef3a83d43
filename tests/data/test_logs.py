from __future__ import annotations

import dataclasses
import gzip
import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from enough.data.jsonl import read_objects
from enough.data.logs import read_log_folder, write_log_folder
from enough.errors import DataError
from enough.records import Dataset
from enough.tasks import LAMP_TASKS, Task, load_task
from tests.data.world import (
    MOVIES,
    TWEETS,
    movie_input,
    tweet_input,
    write_jsonl,
)

RECORD = {"id": "r1", "date": "2011-04-18", "description": "A park of dinosaurs.", "tag": "action"}
REQUEST = {
    "id": "q1",
    "user_id": "ann",
    "date": "2012-01-01",
    "source_id": None,
    "input": movie_input("Toys come to life."),
    "output": "comedy",
}


def changed(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The object with other values; `...` takes a field away."""
    merged = {**base, **changes}
    return {key: value for key, value in merged.items() if value is not ...}


def folder(
    tmp_path: Path,
    records: list[Any] | None = None,
    requests: list[Any] | None = None,
    *,
    suffix: str = ".jsonl",
) -> Path:
    path = tmp_path / "LaMP_2"
    history = {"user_id": "ann", "records": [RECORD] if records is None else records}
    write_jsonl(path / f"histories{suffix}", [history])
    write_jsonl(path / f"train{suffix}", [REQUEST] if requests is None else requests)
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_a_folder_becomes_a_dataset(tmp_path: Path, suffix: str) -> None:
    dataset = read_log_folder(folder(tmp_path, suffix=suffix))
    assert dataset.task == MOVIES
    (record,) = dataset.histories["ann"]
    assert (record.context, record.action, record.owner) == (
        "A park of dinosaurs.",
        "action",
        "ann",
    )
    assert (record.date, record.moment) == ("2011-04-18", (2011, 4, 18))
    (example,) = dataset.splits["train"]
    assert example.request.query == "Toys come to life."
    assert example.reference == "comedy"


def test_records_come_oldest_first_and_numbers_become_text(tmp_path: Path) -> None:
    path = tmp_path / "LaMP_3"
    reviews = [
        {"id": 2, "date": "2014-02-01", "text": "Later.", "score": 4.0},
        {"id": 1, "date": 1300000000, "text": "Earlier.", "score": 5},
    ]
    question = "What is the score of the following review on a scale of 1 to 5? review: Fine."
    write_jsonl(path / "histories.jsonl", [{"user_id": 7, "records": reviews}])
    write_jsonl(path / "dev.jsonl", [{"id": 1, "user_id": 7, "input": question, "output": 3}])
    dataset = read_log_folder(path)
    assert [(r.id, r.action) for r in dataset.histories["7"]] == [("1", "5"), ("2", "4")]
    assert dataset.histories["7"][0].date == "2011-03-13T07:06:40+00:00"
    assert dataset.splits["dev"][0].reference == "3"


def test_a_user_without_a_history_line_has_an_empty_history(tmp_path: Path) -> None:
    dataset = read_log_folder(folder(tmp_path, requests=[changed(REQUEST, user_id="new")]))
    assert dataset.history(dataset.splits["train"][0].request) == ()


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (changed(RECORD, tag=...), ["r1", "is missing", "'tag'"]),
        (changed(RECORD, tag=""), ["is empty", "'tag'"]),
        (changed(RECORD, tag="  "), ["is empty", "'tag'"]),
        (changed(RECORD, tag=None), ["is empty", "'tag'"]),
        (changed(RECORD, tag=["action"]), ["expected a string, found a list", "'tag'"]),
        (changed(RECORD, tag=True), ["expected a string, found true/false", "'tag'"]),
        (changed(RECORD, description=None), ["is empty", "'description'"]),
        (changed(RECORD, id=...), ["is missing", "'id'"]),
        (changed(RECORD, date="last May"), ["not a time", "ISO 8601", "'date'"]),
        (changed(RECORD, date="2011-13-01"), ["not a time", "'date'"]),
        (changed(RECORD, date=1e300), ["not a time", "'date'"]),
        ("r1", ["expected an object", "'r1'"]),
        ({"id": "x", "title": "T", "abstract": "A"}, ["those of LaMP-1 or LaMP-5"]),
        ({"id": "x", "text": "T", "score": 5}, ["those of LaMP-3, not of LaMP-2"]),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, record: Any, told: list[str]) -> None:
    path = folder(tmp_path, records=[record])
    with pytest.raises(DataError) as caught:
        read_log_folder(path)
    assert str(caught.value).startswith(f"{path / 'histories.jsonl'}:1: ")
    for part in told:
        assert part in str(caught.value)


def test_one_field_too_many_gives_another_task_away(tmp_path: Path) -> None:
    path = tmp_path / "LaMP_7"
    scored = {"id": "1", "text": "Great strings.", "score": "5"}
    write_jsonl(path / "histories.jsonl", [{"user_id": "ann", "records": [scored]}])
    with pytest.raises(DataError, match="score, text are those of LaMP-3, not of LaMP-7"):
        read_log_folder(path)


@pytest.mark.parametrize(
    ("request_line", "told"),
    [
        (changed(REQUEST, input="Which one?"), ["does not have the form of LaMP-2", "'input'"]),
        (changed(REQUEST, input=...), ["is missing", "'input'"]),
        (changed(REQUEST, output=...), ["no answer", "'output'"]),
        (changed(REQUEST, output="horror"), ["'horror' is not an answer of LaMP-2", "'output'"]),
        (changed(REQUEST, user_id=...), ["is missing", "'user_id'"]),
        (changed(REQUEST, id=""), ["is empty", "'id'"]),
        (changed(REQUEST, date="tomorrow"), ["not a time", "'date'"]),
        (changed(REQUEST, visible=["r9"]), ["no record 'r9'", "'visible'"]),
        (changed(REQUEST, visible="r1"), ["expected a list", "'visible'"]),
        (changed(REQUEST, visible=[["r1"]]), ["expected a string, found a list", "'visible'"]),
        (changed(REQUEST, visible=[7]), ["no record '7'", "'visible'"]),
    ],
)
def test_a_bad_request_is_named(tmp_path: Path, request_line: Any, told: list[str]) -> None:
    good = changed(REQUEST, id="q0")
    path = folder(tmp_path, requests=[good, request_line])
    with pytest.raises(DataError) as caught:
        read_log_folder(path)
    assert str(caught.value).startswith(f"{path / 'train.jsonl'}:2: ")
    for part in told:
        assert part in str(caught.value)


def test_ids_that_occur_twice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="two records have the id 'r1'"):
        read_log_folder(folder(tmp_path / "a", records=[RECORD, RECORD]))
    path = folder(tmp_path / "b")
    write_jsonl(path / "histories.jsonl", [{"user_id": "ann", "records": []}] * 2)
    with pytest.raises(DataError, match=r"histories.jsonl:2: a second line of user 'ann'"):
        read_log_folder(path)
    path = folder(tmp_path / "c")
    write_jsonl(path / "dev.jsonl", [REQUEST])
    with pytest.raises(DataError, match=r"dev.jsonl:1: the id 'q1' is also used at train.jsonl:1"):
        read_log_folder(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"user_id": "ann", \n', ":1: not JSON"),
        (b'\n\n{"user_id": NaN}\n', ":3: not JSON: NaN"),
        (b"[1, 2]\n", ":1: expected an object {...}, found a list"),
        (b'{"user_id": "ann"}\n', ":1: user 'ann': expected a list [...], found nothing"),
        (b'{"user_id": "\xe4"}\n', ":1: not UTF-8"),
        ('{"user_id": "ann"}'.encode("utf-16"), ":1: not UTF-8"),
        (b"", "the file holds no user"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes, told: str) -> None:
    path = folder(tmp_path)
    (path / "histories.jsonl").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_log_folder(path)
    assert f"{path / 'histories.jsonl'}" in str(caught.value)
    assert told in str(caught.value)


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    path = folder(tmp_path)
    plain = (path / "train.jsonl").read_bytes()
    (path / "train.jsonl").write_bytes(b"\xef\xbb\xbf" + plain)
    assert len(read_log_folder(path).splits["train"]) == 1


def test_a_cut_off_gzip_file_is_named(tmp_path: Path) -> None:
    path = folder(tmp_path, suffix=".jsonl.gz")
    whole = (path / "train.jsonl.gz").read_bytes()
    (path / "train.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"train\.jsonl\.gz:\d+: the gzip file is cut off"):
        read_log_folder(path)
    (path / "train.jsonl.gz").write_bytes(whole[:20] + b"\0\0\0\0" + whole[24:])
    with pytest.raises(DataError, match="cut off or damaged"):
        read_log_folder(path)


def test_files_that_are_missing_or_there_twice(tmp_path: Path) -> None:
    path = folder(tmp_path)
    (path / "train.jsonl").unlink()
    with pytest.raises(DataError, match="no request in train, dev or test"):
        read_log_folder(path)
    write_jsonl(path / "histories.jsonl.gz", [])
    with pytest.raises(
        DataError, match=r"both histories\.jsonl and histories\.jsonl\.gz; keep one"
    ):
        read_log_folder(path)
    with pytest.raises(DataError, match=r"there is no histories\.jsonl"):
        read_log_folder(tmp_path)


def test_a_test_file_without_outputs_is_left_out_aloud(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = folder(tmp_path)
    write_jsonl(path / "test.jsonl", [changed(REQUEST, id="t", output=...)])
    with caplog.at_level(logging.WARNING):
        assert set(read_log_folder(path).splits) == {"train"}
    assert "no outputs, so it is left out" in caplog.text
    write_jsonl(
        path / "test.jsonl", [changed(REQUEST, id="t"), changed(REQUEST, id="u", output=...)]
    )
    with pytest.raises(DataError, match=r"test.jsonl:2: request 'u': there is no answer"):
        read_log_folder(path)


def test_the_task_is_given_or_described_or_told_by_the_name(tmp_path: Path) -> None:
    path = folder(tmp_path).rename(tmp_path / "mine")
    with pytest.raises(DataError, match="--task"):
        read_log_folder(path)
    assert read_log_folder(path, MOVIES).task == MOVIES
    (path / "task.toml").write_text(
        'name = "own"\ndescription = "d"\naction_field = "tag"\nmetadata_fields = ["description"]\n'
    )
    dataset = read_log_folder(path)
    assert dataset.task.name == "own"
    assert dataset.histories["ann"][0].metadata == (("description", "A park of dinosaurs."),)


def test_a_written_folder_reads_back_the_same(tmp_path: Path) -> None:
    dataset = read_log_folder(folder(tmp_path, records=[RECORD, changed(RECORD, id="r2")]))
    dataset.visible["q1"] = frozenset({"r2"})
    write_log_folder(dataset, tmp_path / "copy")
    again = read_log_folder(tmp_path / "copy")
    assert again == dataset
    assert [r.id for r in again.history(again.splits["train"][0].request)] == ["r2"]
    write_log_folder(dataset, tmp_path / "twin")
    for file in (tmp_path / "copy").iterdir():
        assert file.read_bytes() == (tmp_path / "twin" / file.name).read_bytes()


@pytest.mark.parametrize("is_gzipped", [False, True])
def test_lines_can_come_through_a_pipe(tmp_path: Path, is_gzipped: bool) -> None:
    content = json.dumps(RECORD).encode()
    os.mkfifo(pipe := tmp_path / "records.jsonl")
    sent = gzip.compress(content) if is_gzipped else content
    writer = threading.Thread(target=pipe.write_bytes, args=(sent,))
    writer.start()
    assert [line for _, line in read_objects(pipe)] == [RECORD]
    writer.join()


def test_half_characters_survive_reading_and_writing(tmp_path: Path) -> None:
    source = folder(tmp_path)
    dataset = read_log_folder(source)
    odd = dataclasses.replace(dataset.histories["ann"][0], context="half \ud800 a character")
    histories = dataset.histories | {"ann": (odd, *dataset.histories["ann"][1:])}
    dataset = dataclasses.replace(dataset, histories=histories)
    write_log_folder(dataset, tmp_path / "copy")
    assert read_log_folder(tmp_path / "copy") == dataset


def test_writing_never_overwrites_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    source = folder(tmp_path)
    dataset = read_log_folder(source)
    with pytest.raises(DataError, match="is there already"):
        write_log_folder(dataset, source)
    broken = dataclasses.replace(dataset.histories["ann"][0], id=b"")  # type: ignore[arg-type]
    unwritable = dataclasses.replace(dataset, histories={"ann": (broken,)})
    with pytest.raises(TypeError):
        write_log_folder(unwritable, tmp_path / "out")
    with pytest.raises(DataError, match="not 'extra'"):
        write_log_folder(Dataset(MOVIES, {}, {"extra": ()}), tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["LaMP_2"]


@pytest.mark.parametrize("task", [*LAMP_TASKS.values(), Task('a "b" \x7f\\', "ä\n\t", "x")])
def test_a_task_survives_its_toml(tmp_path: Path, task: Task) -> None:
    dataset = Dataset(task, {"u": ()}, {})
    write_log_folder(dataset, tmp_path / "out")
    assert load_task(tmp_path / "out" / "task.toml") == task


@pytest.mark.parametrize("name", ["LaMP_2", "LaMP_7"])
def test_real_folders_survive_a_round_trip(tmp_path: Path, real_data: Path, name: str) -> None:
    dataset = read_log_folder(real_data / name)
    write_log_folder(dataset, tmp_path / name)
    assert read_log_folder(tmp_path / name) == dataset
    with gzip.open(real_data / name / "histories.jsonl.gz") as file:
        lines = [json.loads(line) for line in file]
    assert {line["user_id"]: len(line["records"]) for line in lines} == {
        user: len(history) for user, history in dataset.histories.items()
    }


def test_a_tweet_log_needs_no_context(tmp_path: Path) -> None:
    path = tmp_path / "LaMP_7"
    write_jsonl(
        path / "histories.jsonl", [{"user_id": "u", "records": [{"id": "1", "text": "hi there"}]}]
    )
    line = {"id": "1", "user_id": "u", "input": tweet_input("hello"), "output": "hi"}
    write_jsonl(path / "train.jsonl", [line])
    dataset = read_log_folder(path)
    assert dataset.task == TWEETS
    assert dataset.histories["u"][0].context == ""
