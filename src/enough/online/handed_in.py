"""What an app hands in, checked before anything is computed with it.

In: a request and a history, made by hand or read from anywhere. Out: the same with their times
parsed, so that the rules about time hold for them, or a `DataError` that names the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from enough.errors import DataError
from enough.moment import parse_moment
from enough.records import History, Record, Request
from enough.tasks import Task

_Dated = TypeVar("_Dated", Record, Request)


def checked_request(request: Request) -> Request:
    """The request with its time; its input must have the form its task asks for."""
    if not isinstance(request, Request):
        raise DataError(f"a request is an enough.Request, not {type(request).__name__}")
    if not isinstance(request.task, Task):
        raise DataError(
            f"request {request.id!r}: the task is a Task, not {request.task!r}; "
            "enough.task_named gives it",
            field="task",
        )
    _require_text(f"request {request.id!r}", {"input": request.input, "user": request.user})
    try:
        request.task.query_of(request.input)
    except ValueError as error:
        raise DataError(
            f"request {request.id!r}: {error} (it must match {request.task.query_pattern!r})"
        ) from None
    return _with_moment(request, f"request {request.id!r}")


def checked_history(request: Request, history: Sequence[Record]) -> History:
    """The records with their times; all of them must be the user's own, and no id twice."""
    seen: set[str] = set()
    for place, record in enumerate(history):
        if not isinstance(record, Record):
            raise DataError(
                f"history: number {place} is no enough.Record but {type(record).__name__}; "
                "enough.integrations.plain makes records of dictionaries"
            )
        texts = {"id": record.id, "context": record.context, "action": record.action}
        _require_text(f"record {record.id!r}", texts)
        if record.owner != request.user:
            raise DataError(
                f"record {record.id!r} belongs to user {record.owner!r}, but request "
                f"{request.id!r} to {request.user!r}; hand in the user's own history only"
            )
        if record.id in seen:
            raise DataError(f"two records of user {request.user!r} have the id {record.id!r}")
        seen.add(record.id)
    return tuple(_with_moment(record, f"record {record.id!r}") for record in history)


def _require_text(name: str, texts: Mapping[str, object]) -> None:
    for field, text in texts.items():
        if not isinstance(text, str):
            raise DataError(f"{name}: must be text, not {type(text).__name__}", field=field)


def _with_moment(dated: _Dated, name: str) -> _Dated:
    """Values made by hand often have a date as text only."""
    if dated.date is not None:
        _require_text(name, {"date": dated.date})
    if dated.date is None or dated.moment is not None:
        return dated
    try:
        return replace(dated, moment=parse_moment(dated.date))
    except ValueError as error:
        raise DataError(
            f"{name}: not a time: {error}; use 2012, 2012-05-30 or ISO 8601, or leave it out",
            field="date",
        ) from None
