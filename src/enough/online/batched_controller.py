"""The trained controller in plain numpy, for many requests at once.

In: a trained controller and the features of requests. Out: complete profiles, as Algorithm 2 builds
them: repeats and overflow are masked, ties are STOP's, every request has its own horizon and room.
Requests go slab by slab, so memory stays bounded; all of a slab take their next record together.
Choices are those of the runtime for one request; values differ by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from enough.controller.checkpoint import Trained
from enough.controller.features import PoolFeatures
from enough.errors import ConfigError
from enough.online.batched_walk import BatchedWalk
from enough.online.decision_weights import decision_weights
from enough.prompts.profile_sequences import Profile

# Products of 32 requests are still small enough for BLAS to do each in one thread. Two threads gain
# little here, and on a busy machine they wait for each other so long that deciding takes up to
# twenty times as long.
SLAB = 32


class BatchedController:
    """Profiles of many requests.

    Args:
        trained: the controller.
        forced_length: take this many records where horizon and room allow it, and never stop
            before: an ablation.
        slab: requests decided together.
    """

    def __init__(
        self, trained: Trained, *, forced_length: int | None = None, slab: int = SLAB
    ) -> None:
        if slab < 1 or (forced_length is not None and forced_length < 0):
            raise ConfigError("slab must be at least 1 and forced_length at least 0")
        self._weights = decision_weights(trained)
        self._forced_length = forced_length
        self._slab = slab

    def decide_many(self, features: Sequence[PoolFeatures]) -> list[Profile]:
        """Places of the records of each profile, in prompt order."""
        starts = range(0, len(features), self._slab)
        slabs = (self._decide(features[i : i + self._slab]) for i in starts)
        return list(chain.from_iterable(slabs))

    def start(self, features: Sequence[PoolFeatures]) -> BatchedWalk:
        """Begin with empty profiles; at least one request."""
        return BatchedWalk(self._weights, features)

    def _decide(self, features: Sequence[PoolFeatures]) -> list[Profile]:
        walk = self.start(features)
        steps = min(max(one.max_records for one in features), walk.candidates)
        if self._forced_length is not None:
            steps = min(steps, self._forced_length)
        chosen = np.zeros((len(features), steps), np.int64)
        length = np.zeros(len(features), np.int64)
        of = np.arange(len(features))  # whose rows the walk has
        goes_on = np.ones(len(features), np.bool_)
        for step in range(steps):
            net, stop = walk.values()
            best = net.argmax(axis=1)
            value = net[np.arange(len(net)), best]
            goes_on &= value > stop if self._forced_length is None else value != -np.inf
            if not goes_on.any():
                break
            chosen[of[goes_on], step] = best[goes_on]
            length[of[goes_on]] = step + 1
            walk.take(best)
            if 2 * goes_on.sum() <= len(of):  # rows that have stopped just come along until then
                walk.keep(goes_on)
                of, goes_on = of[goes_on], goes_on[goes_on]
        return [
            tuple(places[:k]) for places, k in zip(chosen.tolist(), length.tolist(), strict=True)
        ]
