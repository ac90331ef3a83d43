"""One JSON object of a data file to one value, checked field by field.

In: a parsed object, the task and the place it stands at. Out: a `Record` or a `Request`. Whatever
is wrong becomes a `DataError` that names file, line, item and field and says what to do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from enough.errors import DataError
from enough.moment import Moment, parse_moment
from enough.records import History, Record, Request
from enough.tasks import LAMP_TASKS, Task

JsonObject = Mapping[str, object]

_KIND = {dict: "an object", list: "a list", bool: "true/false", type(None): "null"}
_NOT_TASK_FIELDS = frozenset({"id", "date", "source_id", "user_id"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was read, for error messages."""

    path: Path
    line: int | None = None
    item: str = ""

    def error(self, problem: str, field: str | None = None) -> DataError:
        """A DataError about this place."""
        named = f"{self.item}: {problem}" if self.item else problem
        return DataError(named, path=self.path, line=self.line, field=field)


def as_object(raw: object, place: Place) -> JsonObject:
    """The value, if it is a JSON object."""
    if not isinstance(raw, dict):
        raise place.error(f"expected an object {{...}}, found {_kind(raw)}")
    return raw


def as_list(raw: JsonObject, field: str, place: Place) -> list[object]:
    """The list in a field that has to be there."""
    value = raw.get(field)
    if not isinstance(value, list):
        found = _kind(value) if field in raw else "nothing"
        raise place.error(f"expected a list [...], found {found}", field)
    return value


def text_field(raw: JsonObject, field: str, place: Place, *, may_be_empty: bool = False) -> str:
    """The text of a field that has to be there; numbers are written out."""
    if field not in raw:
        raise place.error("the field is missing", field)
    text = optional_text(raw, field, place)
    if text is None:
        if not may_be_empty:
            raise place.error("the field is empty; fill it or leave the object out", field)
        return ""
    return text


def optional_text(raw: JsonObject, field: str, place: Place) -> str | None:
    """The text of a field, or None where it is absent, null or blank."""
    value = raw.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise place.error(f"expected a string, found {_kind(value)}", field)
    if isinstance(value, float) and not math.isfinite(value):
        raise place.error(f"{value} is not a number that can be written out", field)
    # A score of 4.0 is the label "4": tables of numbers with gaps are often exported as floats.
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return text if text.strip() else None


def parse_record(raw: object, owner: str, task: Task, place: Place) -> Record:
    """One past behaviour of `owner`."""
    table = as_object(raw, place)
    record_id = text_field(table, "id", place)
    place = Place(place.path, place.line, f"record {record_id!r} of user {owner!r}")
    _check_fields(table, task, place)
    date, moment = date_field(table, "date", place)
    context = ""
    if task.context_field:
        context = text_field(
            table, task.context_field, place, may_be_empty=not task.context_required
        )
    metadata = ((name, optional_text(table, name, place)) for name in task.metadata_fields)
    return Record(
        id=record_id,
        owner=owner,
        context=context,
        action=text_field(table, task.action_field, place),
        date=date,
        moment=moment,
        metadata=tuple((name, value) for name, value in metadata if value is not None),
        source_id=optional_text(table, "source_id", place),
    )


def parse_request(
    table: JsonObject, request_id: str, user: str, task: Task, place: Place
) -> Request:
    """The input of a request line; its answer is not looked at."""
    text = text_field(table, "input", place)
    try:
        task.query_of(text)
    except ValueError as error:
        raise place.error(f"{error}; is this a file of another task?", "input") from None
    date, moment = date_field(table, "date", place)
    source_id = optional_text(table, "source_id", place)
    return Request(request_id, user, task, text, date, moment, source_id)


def parse_visible(table: JsonObject, history: History, place: Place) -> frozenset[str]:
    """The ids of those records of the user's history that belong to one request."""
    known = {record.id for record in history}
    given = as_list(table, "visible", place)
    named = [text_field({"visible": one}, "visible", place) for one in given]
    for name in named:
        if name not in known:
            raise place.error(f"the user has no record {name!r}", "visible")
    return frozenset(named)


def check_answer(reference: str, task: Task, place: Place) -> None:
    """Refuse an answer outside a closed answer set."""
    if task.labels and reference not in task.labels:
        known = ", ".join(task.labels)
        raise place.error(f"{reference!r} is not an answer of {task.name} ({known})", "output")


@lru_cache
def _task_fields(task: Task) -> frozenset[str]:
    return frozenset({task.action_field, task.context_field} - {""})


def further_fields(table: JsonObject, task: Task) -> set[str]:
    """Fields of a record that the task does not name."""
    return table.keys() - _NOT_TASK_FIELDS - _task_fields(task) - set(task.metadata_fields)


def _check_fields(table: JsonObject, task: Task, place: Place) -> None:
    expected, found = _task_fields(task), table.keys() - _NOT_TASK_FIELDS
    if found == expected:
        return
    missing = sorted(expected - found)
    others = [other.name for other in LAMP_TASKS.values() if _task_fields(other) == found]
    # A LaMP schema is closed, so a field too many tells as much as a field too few; in somebody's
    # own log further fields are their business.
    if others and (missing or task in LAMP_TASKS.values()):
        fits = " or ".join(others)
        raise place.error(
            f"the fields {', '.join(sorted(found))} are those of {fits}, not of {task.name}; "
            "read it as that task, or put the right file here",
            missing[0] if missing else None,
        )
    if missing:
        raise place.error(
            f"the field is missing; records of {task.name} need {', '.join(sorted(expected))}",
            missing[0],
        )


def date_field(table: JsonObject, field: str, place: Place) -> tuple[str | None, Moment | None]:
    """The time of a field as the log wrote it, and parsed; None where it has none."""
    raw = table.get(field)
    try:
        moment = parse_moment(raw)
    except (ValueError, OverflowError, OSError) as error:
        raise place.error(
            f"not a time: {error}; use 2012, 2012-05-30, an ISO 8601 time, epoch seconds or null",
            field,
        ) from None
    if moment is None:
        return None, None
    if isinstance(raw, (int, float)) and len(moment) > 1:
        # Epoch seconds say nothing to a reader of the prompt.
        return datetime.fromtimestamp(raw, UTC).isoformat(), moment
    return str(raw), moment


def _kind(value: object) -> str:
    return _KIND.get(type(value), f"{value!r:.40}")
