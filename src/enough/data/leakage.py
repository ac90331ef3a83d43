"""Leakage controls: from everything a user ever did to what a request may see.

In: a request, its user's raw history and, offline, the reference answer. Out: the legal records in
their order, and for every other record the first rule that removes it:

1. it is the target interaction itself, or about the same source item;
2. it is not strictly earlier than the request, as far as both have a time;
3. it is the target interaction but for its surface (case, punctuation, spacing);
4. it is nearly the target interaction: it shares half of its wording and lies close by embedding.

Of the target interaction we know the request's query, offline its answer, and the record that came
of it where the history holds that. The answer matters: people write the same text twice, and a
query that paraphrases it does not show that. The fourth rule asks for both things because each
alone is too weak: texts on one subject lie close, and texts from one form share their wording. And
wording is cheap to compare, so few texts are ever embedded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from enough.data.duplicates import (
    Likeness,
    likeness_of_answer,
    likeness_of_query,
    likeness_of_record,
)
from enough.data.near_duplicates import Wording, cosines
from enough.errors import ConfigError
from enough.moment import strictly_before
from enough.protocols import Encoder
from enough.records import History, Record, Request
from enough.tasks import Task

DEFAULT_THRESHOLD = 0.9
DEFAULT_SHARED_WORDING = 0.5
Progress = Callable[[str, int, int], None]
"""Called with the step's name, what is done and what there is to do."""


class Reason(StrEnum):
    """Why a record is not legal; the rules in their order."""

    TARGET = "target"
    SOURCE_ID = "source id"
    NOT_EARLIER = "not strictly earlier"
    EXACT_DUPLICATE = "exact duplicate"
    NEAR_DUPLICATE = "near duplicate"


@dataclass(frozen=True, slots=True)
class Removal:
    """A record that a request may not see, the first rule against it, and what that rule saw."""

    record: Record
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class LegalHistory:
    """What a request may see, and what was taken away; both in the order of the history."""

    records: History
    removals: tuple[Removal, ...]


class Recognised:
    """What is remembered of one user's records between requests; none of the requests."""

    def __init__(self) -> None:
        # By task: what counts as a copy depends on its labels and texts.
        self.records: dict[str, dict[Record, Likeness]] = {}
        self.wording: Wording | None = None

    @property
    def size(self) -> int:
        """Bytes of what texts were taken apart into."""
        return 0 if self.wording is None else self.wording.size


@dataclass(frozen=True, slots=True)
class LeakageControls:
    """The rules with their settings.

    Attributes:
        encoder: for the fourth rule, which is left out without one.
        near_duplicate_threshold: cosine from which on two texts are nearly the same.
        shared_wording: part of the shorter text's wording that the other must have, too; 0 compares
            every pair by embedding alone.
        recognised: of the one user whose requests these controls are for; none by default.
    """

    encoder: Encoder | None = None
    near_duplicate_threshold: float = DEFAULT_THRESHOLD
    shared_wording: float = DEFAULT_SHARED_WORDING
    recognised: Recognised | None = None

    def __post_init__(self) -> None:
        for name in ("near_duplicate_threshold", "shared_wording"):
            if not 0 <= (value := getattr(self, name)) <= 1:
                raise ConfigError(f"{name} must be between 0 and 1, not {value}")

    def legal(
        self,
        request: Request,
        history: History,
        reference: str | None = None,
        *,
        unlike: Container[str] = (),
    ) -> LegalHistory:
        """What one request may see of its user's history.

        Args:
            request: what is asked.
            history: raw.
            reference: its answer, where there is one.
            unlike: ids of records that are known to lie too far from the query for the fourth rule,
                such as all that a retriever gave a lower cosine; they are not looked at again.
        """
        return self.legal_many([request], [history], [reference], unlike=[unlike])[0]

    def legal_many(
        self,
        requests: Sequence[Request],
        histories: Sequence[History],
        references: Sequence[str | None] | None = None,
        progress: Progress | None = None,
        *,
        unlike: Sequence[Container[str]] | None = None,
    ) -> list[LegalHistory]:
        """The same for many requests; every distinct text is embedded once.

        Args:
            requests: in any order.
            histories: the raw history of each request, `dataset.history(request)`.
            references: the answer of each request, where there is one.
            progress: told how far it is.
            unlike: for each request what `legal` takes.
        """
        report = progress or (lambda *_: None)
        answers = references if references is not None else [None] * len(requests)
        removed: list[dict[str, Removal]] = [{} for _ in requests]
        suspects: list[tuple[int, Record, str, str]] = []
        done = 0
        for indices in _by_user(requests):
            # One user at a time, so that what is remembered of texts never grows large.
            memory = self.recognised or Recognised()
            known = memory.records.setdefault(requests[indices[0]].task.name, {})
            wording = memory.wording = memory.wording or Wording(self.shared_wording)
            for i in indices:
                target = _apply_first_rules(
                    requests[i], histories[i], answers[i], known, removed[i]
                )
                if self.encoder is not None:
                    # Whatever else is known of the target may lie nearer than its query.
                    is_query_alone = set(target.embedded) <= {requests[i].query.strip()}
                    far = unlike[i] if unlike is not None and is_query_alone else ()
                    left = (
                        record
                        for record in histories[i]
                        if record.id not in removed[i] and record.id not in far
                    )
                    texts = [(record, text) for record in left for text in known[record].embedded]
                    found = wording.suspicious([text for _, text in texts], target.embedded)
                    suspects += ((i, *texts[j], target.embedded[k]) for j, k in found)
                    if self.recognised is not None:
                        wording.forget(target.embedded)
            done += len(indices)
            report("comparing", done, len(requests))
        if self.encoder is not None:
            pairs = [(text, target) for _, _, text, target in suspects]
            alike = cosines(self.encoder, pairs, lambda *counts: report("embedding", *counts))
            for (i, record, *_), cosine in zip(suspects, alike.tolist(), strict=True):
                if cosine >= self.near_duplicate_threshold:
                    removal = Removal(record, Reason.NEAR_DUPLICATE, f"cosine {cosine:.3f}")
                    removed[i].setdefault(record.id, removal)
        return [_left(history, gone) for history, gone in zip(histories, removed, strict=True)]


def _apply_first_rules(
    request: Request,
    history: History,
    answer: str | None,
    known: dict[Record, Likeness],
    removed: dict[str, Removal],
) -> Likeness:
    """Apply all rules but the fourth; return what is known of the target interaction."""
    for record in history:
        if (found := _identity_or_time(request, record)) is not None:
            removed[record.id] = found
    target = likeness_of_query(request.query, request.task)
    if answer is not None:
        target |= likeness_of_answer(answer, request.task)
    for record in _target_records(removed.values()):
        target |= likeness_of_record(record, request.task)
    for record in history:
        if record.id not in removed:
            if (likeness := known.get(record)) is None:
                likeness = known[record] = likeness_of_record(record, request.task)
            if (detail := likeness.sameness(target)) is not None:
                removed[record.id] = Removal(record, Reason.EXACT_DUPLICATE, detail)
    return target


def _identity_or_time(request: Request, record: Record) -> Removal | None:
    if request.source_id is not None:
        if record.id == request.source_id:
            return Removal(record, Reason.TARGET, f"record {record.id}")
        if record.source_id == request.source_id:
            return Removal(record, Reason.SOURCE_ID, f"source {record.source_id}")
    if record.moment is None or request.moment is None:
        return None
    if strictly_before(record.moment, request.moment):
        return None
    return Removal(record, Reason.NOT_EARLIER, f"{record.date}, the request {request.date}")


def _target_records(removals: Iterable[Removal]) -> list[Record]:
    """The record that came of the request or, where none has its id, those of its source item."""
    by_reason: dict[Reason, list[Record]] = defaultdict(list)
    for removal in removals:
        by_reason[removal.reason].append(removal.record)
    return by_reason[Reason.TARGET] or by_reason[Reason.SOURCE_ID]


def _by_user(requests: Sequence[Request]) -> Iterable[list[int]]:
    indices: dict[tuple[str, Task], list[int]] = defaultdict(list)
    for i, request in enumerate(requests):
        indices[request.user, request.task].append(i)
    return indices.values()


def _left(history: History, removed: dict[str, Removal]) -> LegalHistory:
    return LegalHistory(
        records=tuple(record for record in history if record.id not in removed),
        removals=tuple(removed[record.id] for record in history if record.id in removed),
    )
