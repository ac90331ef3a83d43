"""Requests out of histories: what people did last is asked again.

In: histories without requests, how a request is worded, and how many of every user's last records
to take. Out: examples for "train" and, of the very last ones, for "dev"; the reference is what the
user did. Only a record with enough earlier ones of the same user becomes a request.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

from enough.config import require_at_least
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.moment import strictly_before
from enough.records import Dataset, Example, Record, Request
from enough.tasks import Task


@dataclass(frozen=True, slots=True)
class RequestConfig:
    """Which records are asked again, and how.

    Attributes:
        wording: of an input, with {fields} of the record in it; never the action, the answer.
        train: records of every user for "train".
        dev: the last ones after these, for "dev".
        least: records of the user that must be earlier.
    """

    wording: str
    train: int = 3
    dev: int = 1
    least: int = 3

    def __post_init__(self) -> None:
        require_at_least(self, {"train": 0, "dev": 0, "least": 0})
        if self.train + self.dev == 0:
            raise ConfigError("train and dev are both 0: there is nothing to make")


@dataclass(frozen=True, slots=True)
class MadeRequests:
    """What came of it.

    Attributes:
        dataset: the histories with both splits.
        users: how many have a request.
        left_out: users without one, for too few earlier records or nothing to ask.
        undated: requests that may see later records, because nobody can tell which these are.
    """

    dataset: Dataset
    users: int
    left_out: int
    undated: int


def make_requests(histories: Dataset, config: RequestConfig) -> MadeRequests:
    """Ask the last records of every user again.

    Raises:
        ConfigError: if the wording gives the answer away, or does not match `query_pattern`.
        DataError: if an action is outside the task's closed set of answers.
        UnknownNameError: if it names a field that records do not have.
    """
    fields = _fields(config.wording, histories.task)
    splits: dict[str, list[Example]] = {"train": [], "dev": []}
    users = undated = 0
    for user, history in histories.histories.items():
        fit = [
            record
            for place, record in enumerate(history)
            if all(_values(record, histories.task)[name].strip() for name in fields)
            and _earlier(history, place) >= config.least
        ]
        last = _last(fit, config.dev)
        before = _last(fit[: len(fit) - len(last)], config.train)
        for split, records in (("train", before), ("dev", last)):
            splits[split] += [
                _example(one, user, histories.task, config.wording) for one in records
            ]
            undated += sum(one.moment is None for one in records)
        users += bool(fit)
    made = {name: tuple(examples) for name, examples in splits.items() if examples}
    dataset = Dataset(histories.task, histories.histories, made)
    return MadeRequests(dataset, users, len(histories.histories) - users, undated)


def _last(records: Sequence[Record], count: int) -> Sequence[Record]:
    return records[max(0, len(records) - count) :]


def _fields(wording: str, task: Task) -> set[str]:
    """The fields that the wording names."""
    try:
        used = {name for _, name, _, _ in string.Formatter().parse(wording) if name is not None}
    except ValueError as error:
        raise ConfigError(f"the wording {wording!r} cannot be read: {error}") from None
    known = {*task.metadata_fields, task.context_field} - {""}
    if not known:
        raise ConfigError(
            f"{task.name} has no context_field, so there is nothing to ask again; write "
            "train.jsonl and dev.jsonl by hand"
        )
    if task.action_field in used:
        raise ConfigError(
            f"the wording {wording!r} names {task.action_field!r}, the answer itself; leave it out"
        )
    for name in used:
        if name not in known:
            raise UnknownNameError("field of records in the wording", name, known)
    if not used:
        example = f"{{{task.context_field or min(known)}}}"
        raise ConfigError(
            f"the wording {wording!r} names no field, so all requests would ask the same; put "
            f"{example} into it"
        )
    return used


def _values(record: Record, task: Task) -> dict[str, str]:
    found = dict.fromkeys(task.metadata_fields, "") | dict(record.metadata)
    return found | {task.context_field: record.context}


def _earlier(history: Sequence[Record], place: int) -> int:
    """Records before this one: in time, or in the log where times are missing."""
    moment = history[place].moment
    if moment is None:
        return place
    return sum(
        other.moment is None or strictly_before(other.moment, moment) for other in history[:place]
    )


def _example(record: Record, user: str, task: Task, wording: str) -> Example:
    text = wording.format_map(_values(record, task))
    try:
        task.query_of(text)
    except ValueError:
        raise ConfigError(
            f"the wording makes {text[:80]!r}, which query_pattern {task.query_pattern!r} of "
            f"{task.name} does not match; change one of them"
        ) from None
    if task.labels and record.action not in task.labels:
        raise DataError(
            f"user {user!r}, record {record.id!r}: {record.action!r} is not an answer of "
            f"{task.name} ({', '.join(task.labels)})"
        )
    source = record.source_id if record.source_id is not None else record.id
    request = Request(f"{user}/{record.id}", user, task, text, record.date, record.moment, source)
    return Example(request, record.action)
