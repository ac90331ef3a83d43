"""The official LaMP JSON files as streams; a file of a gigabyte is never held whole.

In: {split}_questions.json, a list of {"id", "input", "profile": [...][, "user_id"]}, and
{split}_outputs.json, {"task", "golds": [{"id", "output"}]}. Out: one `Question` after the other,
and the references by question id.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import ijson

from enough.data.parsing import (
    JsonObject,
    Place,
    as_list,
    as_object,
    optional_text,
    parse_record,
    parse_request,
    text_field,
)
from enough.errors import DataError, EnoughError
from enough.records import History, Record, Request
from enough.tasks import Task, task_named

_LOG = logging.getLogger(__name__)
_RETIRED_NEWS_TASK = "Which category does this article relate to"


@dataclass(frozen=True, slots=True)
class Question:
    """A request and the profile that came with it.

    Attributes:
        request: `user` is the file's user_id, or "user-<question id>" where the file has none.
        profile: what the user had done before, in the order of the file; ids may repeat.
        has_user_id: whether the file names the user (the time split does, the user split does not).
    """

    request: Request
    profile: History
    has_user_id: bool


def find_lamp_file(folder: Path, split: str, kind: str) -> Path | None:
    """{split}_{kind}.json in the folder itself or, as on the server, in a folder of the split."""
    name = f"{split}_{kind}.json"
    return next((p for p in (folder / name, folder / split / name) if p.is_file()), None)


def stream_questions(path: Path, split: str, task: Task) -> Iterator[Question]:
    """The questions of one file, corrected where they are known to be damaged."""
    number = unusable = undated = 0
    for number, raw in enumerate(_items(path, "item"), start=1):
        place = Place(path, item=f"question {number}")
        table = as_object(raw, place)
        question_id = text_field(table, "id", place)
        place = Place(path, item=f"question {question_id!r}")
        user = optional_text(table, "user_id", place)
        owner = user or f"user-{question_id}"
        request = parse_request(
            _corrected(table, task, split, question_id, place), question_id, owner, task, place
        )
        profile: list[Record] = []
        for item in as_list(table, "profile", place):
            behaviour = as_object(item, place)
            if _lacks_text(behaviour, task):
                unusable += 1
                continue
            record, dated = _record(behaviour, owner, task, place)
            undated += not dated
            profile.append(record)
        yield Question(request, tuple(profile), user is not None)
    if number == 0:
        raise DataError("there is no question in it; is it an official LaMP file?", path=path)
    if unusable:
        _LOG.warning("%s: left out %d profile items with nothing in them", path, unusable)
    if undated:
        _LOG.warning("%s: %d profile items have a date that is not a time", path, undated)


def read_outputs(path: Path, task: Task) -> dict[str, str]:
    """Question id -> reference, of one file."""
    declared = next(_items(path, "task"), None)
    if isinstance(declared, str) and not _is_named(task, declared):
        raise DataError(f"outputs of {declared}, not of {task.name}", path=path, field="task")
    outputs: dict[str, str] = {}
    for number, raw in enumerate(_items(path, "golds.item"), start=1):
        place = Place(path, item=f"output {number}")
        table = as_object(raw, place)
        question_id = text_field(table, "id", place)
        if question_id in outputs:
            raise place.error(f"a second output for question {question_id!r}", "id")
        outputs[question_id] = text_field(table, "output", place)
    return outputs


def _items(path: Path, prefix: str) -> Iterator[object]:
    try:
        with path.open("rb") as file:
            yield from ijson.items(file, prefix, use_float=True)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise DataError(
            f"the JSON is cut off or damaged ({error}); download the file again", path=path
        ) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None


def _is_named(task: Task, name: str) -> bool:
    try:
        return task_named(name) == task
    except EnoughError:
        return False


def _corrected(
    table: JsonObject, task: Task, split: str, question_id: str, place: Place
) -> JsonObject:
    text = optional_text(table, "input", place) or ""
    if _RETIRED_NEWS_TASK in text:
        raise place.error(
            "this is the retired LaMP-2, news categorisation; today's LaMP-2, movie tagging, lies "
            "in the folder 'new' on the server: `enough data download lamp --task LaMP-2`",
            "input",
        )
    try:
        task.query_of(text)
    except ValueError:
        if (mended := _corrections().get((task.name, split, question_id))) is not None:
            _LOG.info("%s: the damaged input of question %s is corrected", place.path, question_id)
            return {**table, "input": mended}
    return table


@cache
def _corrections() -> Mapping[tuple[str, str, str], str]:
    text = resources.files("enough.data").joinpath("lamp_corrections.toml").read_text("utf-8")
    return {
        (item["task"], item["split"], item["id"]): item["input"]
        for item in tomllib.loads(text)["correction"]
    }


def _lacks_text(behaviour: JsonObject, task: Task) -> bool:
    """Whether the item is there but empty; in files of millions of items a few are."""
    required = [task.action_field, *([task.context_field] if task.context_required else [])]
    return any(name in behaviour and behaviour[name] in (None, "") for name in required)


def _record(behaviour: JsonObject, owner: str, task: Task, place: Place) -> tuple[Record, bool]:
    """The record, and whether its date (if any) could be read."""
    try:
        return parse_record(behaviour, owner, task, place), True
    except DataError as error:
        # The reader of an official file cannot mend it, and a request has no date to compare with.
        if error.field != "date":
            raise
        return parse_record({**behaviour, "date": None}, owner, task, place), False
