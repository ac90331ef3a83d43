"""Which key of somebody's dictionary holds which part of a record.

In: a dictionary as an app has it, a task, perhaps names of the app's own. Out: a `Record`, or a
`DataError` that names the place and the field. The task's own field names count first, then a few
that are usual; where two usual names disagree, nobody guesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from enough.data.parsing import Place, date_field, optional_text
from enough.errors import DataError, UnknownNameError
from enough.records import Record
from enough.tasks import Task

USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id",),
    "user": ("user", "user_id", "owner"),
    "context": ("context", "input"),
    "action": ("action", "output"),
    "date": ("date", "time", "timestamp", "created_at"),
    "source_id": ("source_id",),
}
"""Parts of a record, and the keys they are looked for under."""


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Where the rows of one source keep what.

    Attributes:
        task: the task the records are for.
        own: part -> key, as the app said; only that key counts for it.
        advice: what to do where a part is not found.
    """

    task: Task
    own: Mapping[str, str]
    advice: str

    def __post_init__(self) -> None:
        for part in self.own:
            if part not in USUAL_NAMES:
                raise UnknownNameError("part of a record", part, USUAL_NAMES)

    def candidates(self, part: str) -> tuple[str, ...]:
        """The keys a part may stand under, the task's own first."""
        if part in self.own:
            return (self.own[part],)
        first = self._of_the_task(part)
        spoken_for = {self.task.context_field, self.task.action_field, *self.own.values()} - {first}
        names = dict.fromkeys((first, *USUAL_NAMES[part]))
        return tuple(name for name in names if name and name not in spoken_for)

    def key(self, row: Mapping[str, object], part: str, place: Place) -> str | None:
        """The key that holds the part in this row; None where no key does."""
        found = [name for name in self.candidates(part) if row.get(name) is not None]
        if not found:
            return None
        is_settled = found[0] in (self.own.get(part), self._of_the_task(part))
        if not is_settled and any(row[name] != row[found[0]] for name in found):
            both = " and ".join(map(repr, found))
            raise place.error(
                f"{both} differ, and each could be the {part}; {self.advice}, or leave one out",
                found[0],
            )
        return found[0]

    def _of_the_task(self, part: str) -> str:
        names = {"context": self.task.context_field, "action": self.task.action_field}
        return names.get(part, "")

    def text(self, row: Mapping[str, object], part: str, place: Place) -> str | None:
        """The text of the part; None where it is absent or blank."""
        key = self.key(row, part, place)
        return None if key is None else optional_text(row, key, place)

    def record(self, row: Mapping[str, object], name: str, owner: str, place: Place) -> Record:
        """One past behaviour of `owner`."""
        task = self.task
        action = self.text(row, "action", place)
        if action is None:
            raise self._missing("action", place)
        context = self.text(row, "context", place) if task.context_field else None
        if context is None and task.context_required:
            raise self._missing("context", place)
        date, moment = date_field(row, self.key(row, "date", place) or "date", place)
        metadata = ((field, optional_text(row, field, place)) for field in task.metadata_fields)
        return Record(
            id=name,
            owner=owner,
            context=context or "",
            action=action,
            date=date,
            moment=moment,
            metadata=tuple((field, text) for field, text in metadata if text is not None),
            source_id=self.text(row, "source_id", place),
        )

    def _missing(self, part: str, place: Place) -> DataError:
        names = self.candidates(part)
        looked = ", ".join(map(repr, names))
        return place.error(
            f"records of {self.task.name} need the {part}, and none of {looked} holds one; "
            f"{self.advice}",
            names[0],
        )


def as_json(row: Mapping[str, object]) -> dict[str, object]:
    """The row with times and UUIDs, which databases give as objects, as their text."""
    return {key: _plain(value) for key, value in row.items()}


def _plain(value: object) -> object:
    if isinstance(value, date):  # a datetime is one, too
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
