"""The log format: a folder with histories.jsonl and train/dev/test.jsonl, gzipped or not.

    histories   {"user_id", "records": [{"id", "date", ["source_id",] <the task's fields>}]}
    requests    {"id", "user_id", "date", "source_id", "input", "output"[, "visible": [ids]]}

In: such a folder, and the task: given, or in its task.toml, or told by its name. Out: a `Dataset`,
checked whole; and back again. A request of a user without a history line is fine: that user has
done nothing yet. A test file may come without outputs: nothing in it can be scored, so it is left
out, with a warning.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from enough.data.jsonl import find_jsonl, json_line, read_objects, write_objects
from enough.data.parsing import (
    JsonObject,
    Place,
    as_list,
    as_object,
    check_answer,
    further_fields,
    optional_text,
    parse_record,
    parse_request,
    parse_visible,
    text_field,
)
from enough.data.task_file import TASK_FILE, folder_task, task_as_toml
from enough.errors import DataError
from enough.records import Dataset, Example, History, Record, Request
from enough.run_folders import write_whole
from enough.tasks import Task

SPLITS = ("train", "dev", "test")
_HISTORIES = "histories"
_OF_REQUESTS = {"id", "user_id", "date", "source_id", "input", "output", "visible"}
_LOG = logging.getLogger(__name__)


def is_log_folder(path: Path) -> bool:
    """Whether the folder holds a histories file."""
    return find_jsonl(path, _HISTORIES) is not None


def read_log_folder(path: Path, task: Task | None = None) -> Dataset:
    """Read and check a whole folder.

    Raises:
        DataError: naming file, line and field of the first thing that is wrong.
    """
    dataset = read_histories(path, task)
    seen: dict[str, Place] = {}
    for split in SPLITS:
        if (file := find_jsonl(path, split)) is not None:
            examples = _read_requests(file, dataset, seen, answers_optional=split == "test")
            if examples is not None:
                dataset.splits[split] = examples
    if not seen:
        raise DataError(
            "there is no request in train, dev or test.jsonl[.gz]; `enough data requests` makes "
            "them out of histories",
            path=path,
        )
    return dataset


def read_histories(path: Path, task: Task | None = None) -> Dataset:
    """A folder's histories alone; its requests, if there are any, are not looked at."""
    if not path.is_dir():
        raise DataError("there is no such folder", path=path)
    file = find_jsonl(path, _HISTORIES)
    if file is None:
        raise DataError("there is no histories.jsonl or histories.jsonl.gz in it", path=path)
    task = task or folder_task(path)
    return Dataset(task, _read_histories(file, task), {})


@dataclass(frozen=True, slots=True)
class UnreadFields:
    """Fields that nothing reads, by name; misspelt ones look like that."""

    of_records: tuple[str, ...] = ()
    of_requests: tuple[str, ...] = ()


def unread_fields(path: Path, task: Task) -> UnreadFields:
    """Those of a folder's files; none where it is no log."""
    if (file := find_jsonl(path, _HISTORIES)) is None:
        return UnreadFields()
    of_records: set[str] = set()
    for place, line in read_objects(file):
        for raw in as_list(line, "records", place):
            of_records |= further_fields(as_object(raw, place), task)
    of_requests: set[str] = set()
    for split in SPLITS:
        if (asked := find_jsonl(path, split)) is not None:
            of_requests |= {name for _, line in read_objects(asked) for name in line}
    return UnreadFields(tuple(sorted(of_records)), tuple(sorted(of_requests - _OF_REQUESTS)))


def require_no_requests(path: Path) -> None:
    """Refuse a folder that has requests already."""
    for split in SPLITS:
        if (file := find_jsonl(path, split)) is not None:
            raise DataError("is there already; nothing was written", path=file)


def add_requests(dataset: Dataset, path: Path) -> list[Path]:
    """Write the data set's requests beside the histories of a folder; the files.

    Raises:
        DataError: if there are requests already; nothing is written then.
    """
    require_no_requests(path)
    written = []
    for split, examples in dataset.splits.items():
        lines = b"".join(json_line(_request_line(example, dataset)) for example in examples)
        write_whole(path / f"{split}.jsonl", lines)
        written.append(path / f"{split}.jsonl")
    return written


def in_order(records: Iterable[Record]) -> History:
    """Oldest first where every record has a time, otherwise as they come."""
    history = tuple(records)
    if any(record.moment is None for record in history):
        return history
    return tuple(sorted(history, key=lambda record: record.moment or ()))


def _read_histories(path: Path, task: Task) -> dict[str, History]:
    histories: dict[str, History] = {}
    for place, line in read_objects(path):
        user = text_field(line, "user_id", place)
        if user in histories:
            raise place.error(f"a second line of user {user!r}; put all records in one", "user_id")
        named = Place(path, place.line, f"user {user!r}")
        records: dict[str, Record] = {}
        for raw in as_list(line, "records", named):
            record = parse_record(raw, user, task, named)
            if record.id in records:
                raise named.error(f"two records have the id {record.id!r}; ids are unique", "id")
            records[record.id] = record
        histories[user] = in_order(records.values())
    if not histories:
        raise DataError("the file holds no user", path=path)
    return histories


def read_log_questions(
    path: Path, split: str, task: Task | None = None
) -> tuple[Dataset, list[Request]]:
    """Histories and the requests of one split; outputs are not looked at."""
    dataset = read_histories(path, task)
    if (file := find_jsonl(path, split)) is None:
        raise DataError(f"there is no {split}.jsonl or {split}.jsonl.gz in it", path=path)
    return dataset, [request for request, _, _ in _requests(file, dataset, {})]


def _requests(
    path: Path, dataset: Dataset, seen: dict[str, Place]
) -> Iterator[tuple[Request, JsonObject, Place]]:
    """Every request of a file with its line and place; what it may see goes into the data set."""
    for place, line in read_objects(path):
        request_id = text_field(line, "id", place)
        if (first := seen.get(request_id)) is not None:
            raise place.error(
                f"the id {request_id!r} is also used at {first.path.name}:{first.line}", "id"
            )
        seen[request_id] = place
        named = Place(path, place.line, f"request {request_id!r}")
        user = text_field(line, "user_id", named)
        request = parse_request(line, request_id, user, dataset.task, named)
        if "visible" in line:
            history = dataset.histories.get(user, ())
            dataset.visible[request_id] = parse_visible(line, history, named)
        yield request, line, named


def _read_requests(
    path: Path, dataset: Dataset, seen: dict[str, Place], *, answers_optional: bool
) -> tuple[Example, ...] | None:
    """The examples of one file; None if it has requests and none of them has an output."""
    examples: list[Example] = []
    unanswered: Place | None = None
    for request, line, named in _requests(path, dataset, seen):
        reference = optional_text(line, "output", named)
        if reference is None:
            unanswered = unanswered or named
        else:
            check_answer(reference, dataset.task, named)
            examples.append(Example(request, reference))
    if unanswered is None:
        return tuple(examples)
    if examples or not answers_optional:
        raise unanswered.error("there is no answer to learn from or to score with", "output")
    _LOG.warning("%s: no outputs, so it is left out here; `enough predict` answers it", path)
    return None


def write_log_folder(dataset: Dataset, path: Path) -> None:
    """Write the dataset as a folder that `read_log_folder` reads back as the same dataset.

    The folder appears whole or not at all, and what is there already is never overwritten.
    """
    for split in dataset.splits:
        if split not in SPLITS:
            raise DataError(f"a log has the splits {', '.join(SPLITS)}, not {split!r}", path=path)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DataError("is there already; choose another folder or remove it", path=path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    unfinished.mkdir()
    try:
        _write_files(dataset, unfinished)
        unfinished.replace(path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _write_files(dataset: Dataset, folder: Path) -> None:
    (folder / TASK_FILE).write_text(task_as_toml(dataset.task), encoding="utf-8")
    write_objects(
        folder / f"{_HISTORIES}.jsonl.gz",
        (
            {"user_id": user, "records": [record_line(r, dataset.task) for r in history]}
            for user, history in dataset.histories.items()
        ),
    )
    for split, examples in dataset.splits.items():
        lines = (_request_line(example, dataset) for example in examples)
        write_objects(folder / f"{split}.jsonl.gz", lines)


def record_line(record: Record, task: Task) -> dict[str, object]:
    """A record as a log has it; `parse_record` reads the same record back."""
    line: dict[str, object] = {"id": record.id, "date": record.date}
    if record.source_id is not None:
        line["source_id"] = record.source_id
    line.update(record.metadata)
    if task.context_field:
        line[task.context_field] = record.context
    line[task.action_field] = record.action
    return line


def _request_line(example: Example, dataset: Dataset) -> dict[str, object]:
    request = example.request
    line: dict[str, object] = {
        "id": request.id,
        "user_id": request.user,
        "date": request.date,
        "source_id": request.source_id,
        "input": request.input,
        "output": example.reference,
    }
    if (ids := dataset.visible.get(request.id)) is not None:
        # In the order of the history, because a set has none.
        line["visible"] = [r.id for r in dataset.histories.get(request.user, ()) if r.id in ids]
    return line
