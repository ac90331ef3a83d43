"""What a dataset holds and what the leakage controls leave of it.

In: a `Dataset` and the controls. Out: a `Check` with numbers per split, and every single removal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from enough.data.leakage import LeakageControls, LegalHistory, Progress, Reason
from enough.data.logs import UnreadFields
from enough.records import Dataset, Example, History, Request


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """The numbers of one split.

    Attributes:
        name: of the split.
        requests: how many.
        users: how many different users have made them.
        median_legal: median number of legal records of a request.
        without_history: requests with no legal record at all.
        removals: how many (request, record) pairs each rule took away.
    """

    name: str
    requests: int
    users: int
    median_legal: float
    without_history: int
    removals: dict[Reason, int]


@dataclass(frozen=True, slots=True)
class Check:
    """The numbers of a dataset, and its legal histories: split -> one per example, in order.

    `notes` say what can be read, and is probably not what was meant.
    """

    task: str
    users: int
    records: int
    splits: tuple[SplitCheck, ...]
    legal: dict[str, tuple[LegalHistory, ...]]
    notes: tuple[str, ...] = ()


def check_dataset(
    dataset: Dataset,
    controls: LeakageControls,
    progress: Progress | None = None,
    unread: UnreadFields = UnreadFields(),  # noqa: B008 (it is frozen)
) -> Check:
    """Apply the controls to every request.

    Args:
        dataset: what is checked.
        controls: the rules.
        progress: told how far it is.
        unread: fields of its files that were left where they are.
    """
    # All splits at once: they share users, so texts are compared and embedded once.
    examples = [example for split in dataset.splits.values() for example in split]
    requests = [example.request for example in examples]
    histories = [dataset.history(request) for request in requests]
    references = [example.reference for example in examples]
    left = iter(controls.legal_many(requests, histories, references, progress))
    legal = {name: tuple(next(left) for _ in examples) for name, examples in dataset.splits.items()}
    return Check(
        task=dataset.task.name,
        users=len(dataset.histories),
        records=sum(len(history) for history in dataset.histories.values()),
        splits=tuple(_split(name, dataset.splits[name], legal[name]) for name in legal),
        legal=legal,
        notes=tuple(_notes(dataset, requests, unread)),
    )


def _notes(dataset: Dataset, requests: Sequence[Request], unread: UnreadFields) -> Iterator[str]:
    """What a field of another name, or an id of another log, looks like from here."""
    records = [record for history in dataset.histories.values() for record in history]
    undated = sum(record.moment is None for record in records)
    never = sum(request.moment is None for request in requests)
    if undated and never < len(requests):
        yield (
            f"{undated} of {len(records)} records have no `date`, though requests have: nobody can "
            "tell whether they came later"
        )
    if never and undated < len(records):
        yield (
            f"{never} of {len(requests)} requests have no `date`, though records have: what came "
            "later is not told apart, so they may see their own future"
        )
    strangers = sum(request.user not in dataset.histories for request in requests)
    if strangers:
        yield f"{strangers} of {len(requests)} requests are of users without a line in histories"
    known = {user: _items(history) for user, history in dataset.histories.items()}
    named = [request for request in requests if request.source_id is not None]
    lost = sum(request.source_id not in known.get(request.user, ()) for request in named)
    if lost:
        yield (
            f"{lost} of {len(named)} `source_id`s name nothing in their users' histories: the "
            "record of the request itself may be among what it sees"
        )
    for field in dataset.task.metadata_fields:
        if records and not any(name == field for one in records for name, _ in one.metadata):
            yield f"no record has the field {field!r} of metadata_fields"
    if unread.of_records:
        yield (
            f"nothing reads these fields of records: {', '.join(unread.of_records)}; those that "
            "matter belong into metadata_fields of task.toml"
        )
    if unread.of_requests:
        yield f"nothing reads these fields of requests: {', '.join(unread.of_requests)}"


def _items(history: History) -> set[str]:
    """Ids of records, and of what they are about."""
    return {name for record in history for name in (record.id, record.source_id) if name}


def removal_lines(dataset: Dataset, check: Check) -> Iterator[dict[str, str]]:
    """Every removal as one flat line, for a file to look through."""
    for name, examples in dataset.splits.items():
        for example, left in zip(examples, check.legal[name], strict=True):
            for removal in left.removals:
                yield {
                    "split": name,
                    "request": example.request.id,
                    "user": example.request.user,
                    "record": removal.record.id,
                    "reason": removal.reason.value,
                    "detail": removal.detail,
                }


def _split(name: str, examples: tuple[Example, ...], legal: tuple[LegalHistory, ...]) -> SplitCheck:
    counts = Counter(removal.reason for left in legal for removal in left.removals)
    return SplitCheck(
        name=name,
        requests=len(examples),
        users=len({example.request.user for example in examples}),
        median_legal=median([len(left.records) for left in legal] or [0]),
        without_history=sum(not left.records for left in legal),
        removals={reason: counts[reason] for reason in Reason},
    )
