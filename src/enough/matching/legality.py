"""Which records of others a request may not be given because of what they are.

In: a dataset and a request. Out: the numbers of barred records, places in the list of all records.
Barred are

1. what is about the request's source item;
2. what the request's user has in the own history, too: co-authors have the same paper, and that is
   not somebody else's behaviour;
3. the target of a request of another split, whoever has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from enough.matching.covariates import Numbers, codes
from enough.records import Dataset, Record, Request


class Legality:
    """The rules for one dataset; `records` says which number is which record.

    Attributes:
        things: equal for records of one thing, whoever has them, [len(records)].
    """

    def __init__(self, dataset: Dataset, records: Sequence[Record]) -> None:
        self.things = codes((record.id, _text(record)) for record in records)
        self._histories = dataset.histories
        self._same_thing: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._same_id: dict[str, list[int]] = defaultdict(list)
        for number, record in enumerate(records):
            for name in _names(record):
                self._same_thing[name, _text(record)].append(number)
                self._same_id[name].append(number)
        self._splits = {
            name: frozenset(example.request.id for example in examples)
            for name, examples in dataset.splits.items()
        }
        self._targets = {
            name: self._things(
                record for example in examples for record in self.own_targets(example.request)
            )
            for name, examples in dataset.splits.items()
        }

    def barred(self, request: Request) -> Numbers:
        """Numbers about the source item, things the user has, and targets of other splits."""
        numbers = self._things(self._histories.get(request.user, ()))
        if request.source_id is not None:
            numbers |= set(self._same_id.get(request.source_id, ()))
        for name, ids in self._splits.items():
            if request.id not in ids:
                numbers |= self._targets[name]
        return np.array(sorted(numbers), np.int64)

    def own_targets(self, request: Request) -> list[Record]:
        """The user's own records of the target interaction."""
        if request.source_id is None:
            return []
        history = self._histories.get(request.user, ())
        return [record for record in history if request.source_id in _names(record)]

    def _things(self, records: Iterable[Record]) -> set[int]:
        """All numbers, anybody's, of the things these records are about."""
        return {
            number
            for record in records
            for name in _names(record)
            for number in self._same_thing[name, _text(record)]
        }


def _names(record: Record) -> tuple[str, ...]:
    return (record.id,) if record.source_id is None else (record.id, record.source_id)


def _text(record: Record) -> str:
    """What must be equal, too, for equal ids to mean one thing: many logs number anew per user."""
    return record.context.strip() or record.action
