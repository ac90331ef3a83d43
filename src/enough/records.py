"""The values that flow through everything: records, requests, examples, pools, selections.

A `Request` has no reference answer in it, so nothing that is given a request can peek. Only the
offline teacher, oracles and metrics are handed an `Example`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from enough.moment import Moment
from enough.tasks import Task


@dataclass(frozen=True, slots=True)
class Record:
    """One past behaviour d = (c, a, m): what the user faced and what the user did.

    Attributes:
        id: unique within the owner's history.
        owner: the user whose behaviour it is.
        context: c_d, known before the user acted; may be empty (LaMP-7).
        action: a_d, what the user did: a label, a score, a text. Never empty.
        date: the time as the log wrote it; shown in the prompt.
        moment: the same, parsed, for comparisons.
        metadata: further m_d as (name, value) pairs.
        source_id: the item the record is about, if it differs from `id`.
    """

    id: str
    owner: str
    context: str
    action: str
    date: str | None = None
    moment: Moment | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    source_id: str | None = None

    @property
    def letters(self) -> int:
        """How long its texts are together."""
        return len(self.context) + len(self.action) + sum(len(value) for _, value in self.metadata)

    def __hash__(self) -> int:
        """By its names alone: records are looked up all the time, and equal ones have these."""
        return hash((self.id, self.owner))


@dataclass(frozen=True, slots=True)
class Request:
    """What arrives online: the current input x of a user, without any answer.

    `source_id` names the record that will be written from this very interaction, where a log knows
    it; the leakage controls remove it from the history.
    """

    id: str
    user: str
    task: Task
    input: str
    date: str | None = None
    moment: Moment | None = None
    source_id: str | None = None

    @property
    def query(self) -> str:
        """The part of the input that is searched with (the task's official query rule)."""
        return self.task.query_of(self.input)


@dataclass(frozen=True, slots=True)
class Example:
    """A request with its reference output y. For training and metrics only."""

    request: Request
    reference: str


History = tuple[Record, ...]
"""All records of one user, in the order of the log (oldest first where dates are known)."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """One task's users and examples, as read from disk or made up.

    Attributes:
        task: the task all of it belongs to.
        histories: owner -> everything the owner ever did, targets and later actions included.
        splits: "train", "dev", ... -> examples.
        visible: request id -> ids of the owner's records that belong to it, where the source gives
            every request its own profile (official LaMP); other requests see the whole history.
    """

    task: Task
    histories: dict[str, History]
    splits: dict[str, tuple[Example, ...]]
    visible: dict[str, frozenset[str]] = field(default_factory=dict)

    def history(self, request: Request) -> History:
        """The raw (not yet leakage-controlled) history of the request's user."""
        records = self.histories.get(request.user, ())
        if (ids := self.visible.get(request.id)) is None:
            return records
        return tuple(record for record in records if record.id in ids)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A legal record together with what the retriever thought of it."""

    record: Record
    score: float


Pool = tuple[Candidate, ...]
"""C_i: at most M legal records, best first, ties in the order of the history."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a selector chose: records in prompt order, and why it ended there."""

    records: tuple[Record, ...]
    reason: str = field(default="")

    @property
    def is_empty(self) -> bool:
        """True when no profile is put into the prompt (STOP at the root)."""
        return not self.records
