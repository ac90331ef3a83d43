"""Labelled requests with the rows of their states, for one kind of target; batches come from here.

In: requests and targets. Out: `Labelled`, any part of it, and batches of chosen requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.batches import Batch, Draw, make_batch
from enough.controller.examples import LabelledRequest, StateRows, state_rows
from enough.teacher.backup import Targets


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Requests and the rows of their states, for one kind of target."""

    requests: Sequence[LabelledRequest]
    rows: Sequence[StateRows]

    @classmethod
    def of(cls, requests: Sequence[LabelledRequest], targets: Sequence[Targets]) -> Labelled:
        """Rows from targets."""
        pairs = zip(requests, targets, strict=True)
        return cls(requests, [state_rows(request, target) for request, target in pairs])

    def some(self, places: Iterable[int]) -> Labelled:
        """Those at these places."""
        chosen = list(places)
        return Labelled([self.requests[i] for i in chosen], [self.rows[i] for i in chosen])

    def batch(
        self, places: Sequence[int], tasks: dict[str, int], draw: Draw, rng: np.random.Generator
    ) -> Batch:
        """A batch of these requests."""
        features = [self.requests[i].features for i in places]
        return make_batch(features, [self.rows[i] for i in places], tasks, draw, rng)

    def by_task(self) -> list[NDArray[np.int64]]:
        """Places of each task's requests."""
        groups: dict[str, list[int]] = {}
        for i, request in enumerate(self.requests):
            groups.setdefault(request.features.task, []).append(i)
        return [np.array(places, np.int64) for places in groups.values()]
