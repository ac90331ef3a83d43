"""One user's history from a file of JSON lines, for those who have no whole folder of data.

    {"user_id": "ann", "records": [{"id", "date", <the task's fields>}, ...]}    a line of a log
    {"id", "date", <the task's fields>}                                  or one record a line

In: such a file, the task and, where several users are in it, which one. Out: the user's name and
records, or a `DataError` that names file, line and field.
"""

from __future__ import annotations

import logging
from difflib import get_close_matches
from pathlib import Path

from enough.data.jsonl import read_objects
from enough.data.logs import in_order
from enough.data.parsing import (
    Place,
    as_list,
    as_object,
    further_fields,
    optional_text,
    parse_record,
    text_field,
)
from enough.errors import DataError
from enough.records import History, Record
from enough.tasks import Task

log = logging.getLogger(__name__)
ONLY_USER = "user"
"""Whose records are that name nobody."""


def read_history(path: Path, task: Task, user: str | None = None) -> tuple[str, History]:
    """The user and the history, oldest first where every record has a time.

    Raises:
        DataError: if a line is wrong, several users are in the file and none was named, or the
            named one is not in it.
    """
    histories: dict[str, dict[str, Record]] = {}
    unread: set[str] = set()  # a date that is misspelt is no date
    for at, line in read_objects(path):
        if "records" in line:
            owner = text_field(line, "user_id", at)
            place = Place(path, at.line, f"user {owner!r}")
            rows = as_list(line, "records", place)
        else:
            owner, place, rows = optional_text(line, "user_id", at) or ONLY_USER, at, [line]
        records = histories.setdefault(owner, {})
        for row in rows:
            record = parse_record(row, owner, task, place)
            unread |= further_fields(as_object(row, place), task)
            if record.id in records:
                raise place.error(f"two records have the id {record.id!r}; ids are unique", "id")
            records[record.id] = record
    if unread:
        log.warning(
            "%s: nothing reads these fields of records: %s", path, ", ".join(sorted(unread))
        )
    if user is None and len(histories) > 1:
        names = [repr(name) for name in histories if name != ONLY_USER]
        if len(names) < len(histories):
            names.append("lines without a user_id")
        some = ", ".join(names[:3] + ["..."] * (len(names) > 3))
        raise DataError(
            f"holds {len(histories)} users ({some}); say which one with --user", path=path
        )
    if user is not None and user not in histories:
        near = ", ".join(get_close_matches(user, histories, cutoff=0)) or "none"
        raise DataError(f"holds no user {user!r}; near ones: {near}", path=path)
    owner = user or next(iter(histories), ONLY_USER)
    return owner, in_order(histories.get(owner, {}).values())
