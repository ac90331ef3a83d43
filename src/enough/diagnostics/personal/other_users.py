"""Records of other users that a request may be given, drawn at random.

In: a dataset and its leakage controls. Out: legal records of others. The rules are those of matched
controls: never the user's own, not about the target or anything the user has, too, no target of
another split (`matching.legality`), strictly earlier than the request and not the target in other
words (`LeakageControls`). Owners are users with a request in the same split: those whose records a
generator may have been fitted on are not put beside those it has never seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from enough.data.leakage import LeakageControls
from enough.matching.legality import Legality
from enough.records import Dataset, Example, Record, Request

_TOGETHER = 32  # records that are compared with a target in one go


class OtherUsers:
    """Of one dataset."""

    def __init__(self, dataset: Dataset, controls: LeakageControls) -> None:
        self._controls = controls
        self._records = [record for history in dataset.histories.values() for record in history]
        self._legality = Legality(dataset, self._records)
        self._of_owner: dict[str, list[int]] = {}
        for number, record in enumerate(self._records):
            self._of_owner.setdefault(record.owner, []).append(number)
        self._splits = [
            (
                frozenset(example.request.id for example in examples),
                tuple(dict.fromkeys(example.request.user for example in examples)),
            )
            for examples in dataset.splits.values()
        ]

    def drawn(self, example: Example, count: int, rng: np.random.Generator) -> tuple[Record, ...]:
        """So many different things of users drawn at random, from one after the other.

        Fewer where there are no more.
        """
        found: dict[int, Record] = {}
        candidates = self._one_by_one(example.request, rng)
        while len(found) < count and (some := list(islice(candidates, _TOGETHER))):
            for number in self._permitted(example, some):
                found.setdefault(int(self._legality.things[number]), self._records[number])
        return tuple(found.values())[:count]

    def of_one(self, example: Example, count: int, rng: np.random.Generator) -> tuple[Record, ...]:
        """So many records of one user drawn at random, in the order of the log.

        None where nobody has as many.
        """
        barred = self._barred(example.request)
        for owner in self._owners(example.request, rng):
            numbers = [n for n in self._of_owner[owner] if n not in barred]
            if len(legal := self._permitted(example, numbers)) >= count:
                places = sorted(rng.choice(len(legal), count, replace=False).tolist())
                return tuple(self._records[legal[place]] for place in places)
        return ()

    def _one_by_one(self, request: Request, rng: np.random.Generator) -> Iterator[int]:
        """A record of every owner, then another of every owner, and so on."""
        barred = self._barred(request)
        left: list[list[int]] = []
        for owner in self._owners(request, rng):
            numbers = [n for n in self._of_owner[owner] if n not in barred]
            rng.shuffle(numbers)
            if numbers:
                left.append(numbers)
                yield numbers.pop()
        while left := [numbers for numbers in left if numbers]:
            for numbers in left:
                yield numbers.pop()

    def _owners(self, request: Request, rng: np.random.Generator) -> list[str]:
        """Users of the request's split but its own, in random order."""
        peers = dict.fromkeys(
            user for ids, users in self._splits if request.id in ids for user in users
        )
        owners = [user for user in peers if user != request.user and user in self._of_owner]
        return [owners[i] for i in rng.permutation(len(owners))]

    def _barred(self, request: Request) -> set[int]:
        return set(self._legality.barred(request).tolist())

    def _permitted(self, example: Example, numbers: Sequence[int]) -> list[int]:
        """Those that the leakage controls let through, in their order."""
        # Ids are unique within a history only. The user's own record of the target is shown to the
        # controls because it says best what the target looks like.
        shown = [
            replace(self._records[n], id=f"{self._records[n].owner}\0{self._records[n].id}")
            for n in numbers
        ]
        history = (*shown, *self._legality.own_targets(example.request))
        left = self._controls.legal(example.request, history, example.reference)
        kept = {record.id for record in left.records}
        return [n for n, record in zip(numbers, shown, strict=True) if record.id in kept]
