"""Rows that may be given away: the numbers of every request, none of the data's texts or ids.

In: rows of `enough evaluate`. Out: rows without answers and references, with ids of users and
requests hashed, and what a file of them says about itself. Tables derived from them are the same to
the last bit: a user's new id begins with its place among all ids in order, since the bootstrap
draws users in that order; and where a metric needs labels (macro F1), the places of both labels in
the task's list are kept.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from enough.config import plain
from enough.evaluation.recipe import MethodLine, Recipe
from enough.evaluation.rows import Row, Seconds
from enough.evaluation.table_values import MainTable
from enough.tasks import Task

ANSWERS = "answers"
"""What the settings of such a file say it holds."""

_NEEDS_LABELS = "f1"


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A `Row` without texts.

    Attributes:
        request, user: hashed.
        answered, wanted: places of answer and reference in the task's list of labels; None for
            anything else, and where no metric asks for them.
        records: how many.
    """

    method: str
    task: str
    seed: int
    request: str
    user: str
    scores: Mapping[str, float]
    answered: int | None
    wanted: int | None
    records: int
    profile_tokens: int
    one_prompt: bool
    root_stop: bool
    calls: int
    rerank_calls: int
    prompt_tokens: int
    seconds: Seconds
    log_likelihood_gain: float | None
    gain: float | None
    specificity: float | None
    net: float | None


def publish_rows(rows: Sequence[Row], tasks: Iterable[Task]) -> list[PublishedRow]:
    """Rows of an evaluation without texts; `tasks` are theirs."""
    names = pseudonyms((row.task, row.user) for row in rows)
    places = {task.name: _places(task) for task in tasks}
    kept = {f.name for f in dataclasses.fields(PublishedRow)} & {
        f.name for f in dataclasses.fields(Row)
    } - {"user", "records"}
    return [
        PublishedRow(
            request=hashed(row.request_id),
            user=names[row.task, row.user],
            answered=places[row.task].get(row.answer.strip()),
            wanted=places[row.task].get((row.reference or "").strip()),
            records=len(row.records),
            **{name: getattr(row, name) for name in kept},
        )
        for row in rows
    ]


def table_rows(rows: Iterable[PublishedRow], tasks: Iterable[Task]) -> list[Row]:
    """Rows to derive tables from.

    Labels stand where a metric needs them, other texts are empty, records are numbered. A row
    without scores had no reference.
    """
    labels = {task.name: task.labels for task in tasks}

    def label(row: PublishedRow, place: int | None) -> str:
        return "" if place is None else labels[row.task][place]

    kept = {f.name for f in dataclasses.fields(PublishedRow)} - {
        *("request", "answered", "wanted", "records"),
    }
    return [
        Row(
            request_id=row.request,
            answer=label(row, row.answered),
            reference=label(row, row.wanted) if row.scores else None,
            records=tuple(map(str, range(row.records))),
            **{name: getattr(row, name) for name in kept},
        )
        for row in rows
    ]


def about_answers(
    recipe: Recipe, tasks: Sequence[Task], table: MainTable, digests: Mapping[str, str]
) -> dict[str, Any]:
    """What a file of published rows says about itself: all that its tables need, no folders."""
    config = recipe.config
    shown = {line.shown.name: dataclasses.asdict(line.shown) for line in table.lines}
    empty = next((line.name for line in recipe.methods if line.kind == "empty"), "empty")
    return {
        "holds": ANSWERS,
        "tasks": [plain(task) for task in tasks],
        "methods": [
            {**shown[line.name], "length": _length(line)}
            for line in recipe.methods
            if line.name in shown
        ],
        "setup": dataclasses.asdict(table.setup),
        "against": config.against,
        "empty": empty,
        "split": config.split,
        "seeds": list(config.seeds),
        "max_records": config.max_records,
        "beta": config.targets.beta,
        "lambda": config.targets.lambda_,
        "data": dict(digests),
    }


def _length(line: MethodLine) -> int | None:
    """How many records of the shared pool a method always takes."""
    if line.kind == "empty":
        return 0
    return int(line.settings.k) if line.kind == "fixed" else None


def _places(task: Task) -> dict[str, int]:
    """Labels in the task's order, where a metric is a mean over them."""
    if _NEEDS_LABELS not in task.metrics:
        return {}
    return {label: place for place, label in enumerate(task.labels)}


def pseudonyms(users: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """(task, user) -> an id that sorts as the user's own does and says nothing else."""
    every = sorted(set(users))
    digits = len(str(len(every)))
    return {
        (task, user): f"{place:0{digits}}-{hashed(user)}"
        for place, (task, user) in enumerate(every)
    }


def hashed(name: str) -> str:
    """Twelve digits in place of an id."""
    raw = name.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=6, person=b"enough").hexdigest()
