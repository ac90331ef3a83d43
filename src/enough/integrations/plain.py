"""Histories from plain dictionaries, as apps and memory stores have them.

In: a list of dictionaries, or what a mem0 `search()` or `get_all()` gave back, and a task. Out:
whose history it is and its records, ready for `Enough.select`; or a `DataError` that names the
place ("history[3]") and the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from enough.data.history_file import ONLY_USER
from enough.data.logs import in_order
from enough.data.parsing import Place
from enough.errors import DataError
from enough.integrations.field_names import FieldNames, as_json
from enough.records import History, Record
from enough.tasks import Task

_ADVICE = "say where it stands, like fields={'context': 'question'}"
_MEMORY_ADVICE = "put it into the memory's metadata under one name"
_OF_A_MEMORY = (("id", ("id",)), ("user", ("user_id",)), ("date", ("updated_at", "created_at")))


def history_from_dicts(
    rows: Iterable[Mapping[str, object]],
    task: Task,
    user: str | None = None,
    *,
    fields: Mapping[str, str] | None = None,
) -> tuple[str, History]:
    """The user and the history, oldest first where every record has a time.

    Args:
        rows: one dictionary per record. The task's own field names are looked for first, then
            "context" or "input", "action" or "output", "date", "time", "timestamp" or "created_at",
            "id", "user", "user_id" or "owner"; other keys are the app's business. A row without an
            id is called by its place, "#0".
        task: what the records are for.
        user: whose they are; without it the one user that the rows name.
        fields: part -> key, where an app calls things otherwise.

    Raises:
        DataError: naming the place and the field of what is wrong.
    """
    names = FieldNames(task, fields or {}, _ADVICE)
    owner, records = records_of(rows, names, user, "history")
    return owner, in_order(distinct(records, "history").values())


def history_from_mem0(
    found: Mapping[str, object] | Sequence[object], task: Task, user: str | None = None
) -> tuple[str, History]:
    """The same from memories: `{"results": [...]}`, or the older plain list.

    A memory is something the user did or said, so its text is the action. If the metadata holds an
    action ("action", "output" or the task's field), the memory is what it was the answer to. The
    time is that of the last change. Scores are not used: what is searched is decided later.

    Raises:
        DataError: naming the place and the field of what is wrong.
    """
    name = "results" if isinstance(found, Mapping) else "memories"
    if isinstance(found, Mapping) and "results" not in found:
        keys = ", ".join(map(repr, found)) or "nothing"
        raise DataError(
            f"not what mem0's search() gives: there is no list in it, but {keys}", field="results"
        )
    memories = found["results"] if isinstance(found, Mapping) else found
    if not isinstance(memories, Sequence) or isinstance(memories, str):
        raise DataError("expected a list of memories", field=name)
    names = FieldNames(task, {}, _MEMORY_ADVICE)
    rows = [_memory_row(one, names, _place(name, n)) for n, one in enumerate(memories)]
    owner, records = records_of(rows, names, user, name)
    return owner, in_order(distinct(records, name).values())


def records_of(
    rows: Iterable[object], names: FieldNames, user: str | None, name: str
) -> tuple[str, list[Record]]:
    """The user, and one record for each row, in their order."""
    placed = [(as_json(_as_row(row, at := _place(name, n))), at) for n, row in enumerate(rows)]
    owner = user
    for row, place in placed:
        named = names.text(row, "user", place)
        if named is not None and named != (owner := owner or named):
            raise place.error(
                f"it is of user {named!r}, and the history of {owner!r}; hand in one user's own",
                names.key(row, "user", place),
            )
    owner = owner or ONLY_USER
    return owner, [
        names.record(row, names.text(row, "id", place) or f"#{number}", owner, place)
        for number, (row, place) in enumerate(placed)
    ]


def distinct(records: Sequence[Record], name: str) -> dict[str, Record]:
    """Records by id. The same one twice counts once; two under one id are an error."""
    known: dict[str, Record] = {}
    for number, record in enumerate(records):
        if known.setdefault(record.id, record) != record:
            raise _place(name, number).error(
                f"another record has the id {record.id!r}, too; ids are unique", "id"
            )
    return known


def _as_row(row: object, place: Place) -> Mapping[str, object]:
    if not isinstance(row, Mapping):
        raise place.error(f"expected a dictionary, found {row!r:.60}")
    return row


def _memory_row(memory: object, names: FieldNames, place: Place) -> Mapping[str, object]:
    raw = _as_row(memory, place)
    text = raw.get("memory")
    if not isinstance(text, str) or not text.strip():
        raise place.error("a memory has a text", "memory")
    metadata = raw.get("metadata")
    row = dict(metadata) if isinstance(metadata, Mapping) else {}
    for part, keys in _OF_A_MEMORY:
        for key in names.candidates(part):
            row.pop(key, None)  # what the store says counts, not what an app noted beside it
        row[part] = next((raw[key] for key in keys if raw.get(key) is not None), None)
    is_an_answer = names.key(row, "action", place) is not None
    part = "context" if is_an_answer else "action"
    if names.key(row, part, place) is None:
        row[part] = text
    return row


def _place(name: str, number: int) -> Place:
    return Place(Path(f"{name}[{number}]"))
