"""What is the same for every library of documents: texts with metadata in, some of them out.

In: pieces (text, metadata, perhaps an id) that an app's retriever found, and the query. Out: the
places of those worth their tokens, in prompt order, each with how it was decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enough.data.logs import in_order
from enough.errors import ConfigError
from enough.integrations.field_names import FieldNames
from enough.integrations.plain import distinct, records_of
from enough.records import History, Record, Request
from enough.tasks import Task, task_named

if TYPE_CHECKING:
    from enough.online.personaliser import Enough
    from enough.online.selected import Selected

QUERY = "{query}"
"""Where the query goes in an input."""

_ADVICE = "put it into the metadata, or map documents to records with as_record"


def as_task(task: Task | str) -> Task:
    """A task that may have been given by name; its file is read once, when an adapter is made."""
    return task_named(task) if isinstance(task, str) else task


def checked_template(template: str) -> str:
    """The template, if a query has a place in it."""
    if QUERY not in template:
        raise ConfigError(f"input_template {template!r} has no {QUERY} in it")
    return template


@dataclass(frozen=True, slots=True)
class Piece:
    """A document or node, as far as it matters here."""

    text: str
    metadata: Mapping[str, object]
    id: str | None


@dataclass(frozen=True, slots=True)
class Asking:
    """Who decides, and how a query becomes a request.

    Attributes:
        enough: loaded once, shared by all.
        task: what is asked for.
        template: the task's input, with {query} in it.
        user: whose documents they are; None where their metadata says so.
    """

    enough: Enough
    task: Task
    template: str
    user: str | None

    def select(self, query: str, user: str, history: History) -> Selected:
        """The decision about one query."""
        # No formatting: braces in a query are the user's own.
        text = self.template.replace(QUERY, query)
        return self.enough.select(Request("request", user, self.task, text), history)


@dataclass(frozen=True, slots=True)
class Kept:
    """A piece that stays.

    Attributes:
        place: among the pieces that came.
        how: step, value and reason, as plain values for metadata.
    """

    place: int
    how: dict[str, object]


def records_of_pieces(pieces: Sequence[Piece], task: Task, user: str | None) -> list[Record]:
    """One record for each piece, by the default mapping.

    The text is the context, the action stands in the metadata ("action", "output" or the task's own
    field). For a task without contexts the text is the action. A "context" or "input" in the
    metadata counts before the text.
    """
    names = FieldNames(task, {}, _ADVICE)
    return records_of((_row(piece, names) for piece in pieces), names, user, "documents")[1]


def keep(asking: Asking, query: str, records: Sequence[Record]) -> list[Kept]:
    """Which of the records' places stay, in prompt order; none if stopping at once is best."""
    if not records:
        return []
    known = distinct(records, "documents")
    user = asking.user or records[0].owner
    selected = asking.select(query, user, in_order(known.values()))
    places: dict[str, int] = {}
    for place, record in enumerate(records):
        places.setdefault(record.id, place)
    return [
        Kept(places[record.id], how)
        for record, how in zip(selected.records, decided(selected), strict=True)
    ]


def decided(selected: Selected) -> list[dict[str, object]]:
    """For each chosen record, in order: the step, its value and parts, the margin, the reason."""
    taken = [step for step in selected.trace if step.taken is not None]
    found: list[dict[str, object]] = []
    for number, step in enumerate(taken, start=1):
        value = next(one for one in step.records if one.action == step.taken)
        found.append(
            {
                "step": number,
                "value": value.net,
                **dict(zip(selected.parts, value.parts, strict=True)),
                "margin": step.margin,
                "stop_probability": step.stop_probability,
                "policy": selected.policy,
                "reason": selected.reason,
            }
        )
    return found


def _row(piece: Piece, names: FieldNames) -> dict[str, object]:
    row = dict(piece.metadata)
    if piece.id is not None:
        row["id"] = piece.id
    part = "context" if names.task.context_field else "action"
    if not any(row.get(key) is not None for key in names.candidates(part)):
        row[part] = piece.text
    return row
