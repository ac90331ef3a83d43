"""Who is near, without looking at everybody.

In: unit vectors, or times. Out: for a place among them the numbers of acceptable records around it,
from a small part of all that there are. `Cells` is an inverted file: k-means cells, about the root
of n of them, the nearest ones first, without those that are too far away to hold anything
acceptable. `Times` is for records without content: a sorted line, in random order where times are
equal. What is acceptable is the caller's business; both widen the search until enough has been
accepted or nothing is left to look at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Keep = Callable[[Numbers], Numbers]
"""Given numbers of records, those that are acceptable, in the same order."""

_FIRST_CELLS = 16  # on real contexts 93% of the nearest are then found (docs/matching.md)
_SAMPLE_PER_CELL = 64  # what k-means is trained on; more does not make better cells
_ROUNDS = 8
_BLOCK = 8192  # vectors compared with all centres at once
_FIRST_SIZE = 64  # of records in the order of time
_ROUNDING = 1e-5  # of a cosine: far more than float32 loses, far less than a cell is wide


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """An inverted file over unit vectors.

    Attributes:
        centres: unit vectors, [cells, dim].
        members: the numbers of the records, cell after cell, [n].
        starts: where each cell begins in `members`, [cells + 1].
        radii: no member is at a larger angle to its cell's centre, [cells].
    """

    centres: NDArray[np.float32]
    members: Numbers
    starts: Numbers
    radii: NDArray[np.float64]

    @classmethod
    def build(cls, vectors: NDArray[np.float32], numbers: Numbers, seed: int) -> Cells:
        """Index the rows `numbers` of `vectors`; the same arguments give the same cells."""
        rng = np.random.default_rng(seed)
        cells = max(1, round(math.sqrt(len(numbers))))
        sample = rng.permutation(numbers)[: cells * _SAMPLE_PER_CELL]
        centres = _centres(vectors[np.sort(sample)], cells, rng)
        cell, cosines = _nearest(vectors, numbers, centres)
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(len(centres) + 1))
        lowest = np.ones(len(centres))
        np.minimum.at(lowest, cell, cosines)
        return cls(centres, numbers[order], starts.astype(np.int64), _angle(lowest - _ROUNDING))

    def around(self, vector: NDArray[np.float32], reach: float, enough: int, keep: Keep) -> Numbers:
        """At least `enough` acceptable numbers near the vector, or all acceptable ones.

        Nothing at a cosine distance (1 − cosine) above `reach` is acceptable. Two angles with the
        centre differ by no more than the angle between the two, so a cell may be wholly beyond it.
        """
        cosines = (self.centres @ vector).astype(np.float64)
        nearest_first = np.argsort(-cosines, kind="stable")
        beyond = _angle(cosines + _ROUNDING) - self.radii > _angle(1 - reach - _ROUNDING)
        found: list[Numbers] = []
        first, count, accepted = 0, _FIRST_CELLS, 0
        while first < len(nearest_first) and accepted < enough:
            chosen = nearest_first[first : first + count]
            # Left out after choosing: who is found with whom does not depend on the radii.
            near = chosen[~beyond[chosen]]
            if len(near):
                parts = [self.members[self.starts[c] : self.starts[c + 1]] for c in near]
                found.append(keep(np.concatenate(parts)))
                accepted += len(found[-1])
            first, count = first + count, count * 2
        return np.concatenate(found) if found else np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Records in the order of time; those without one are last.

    Attributes:
        times: ascending, NaN last, [n].
        members: the numbers of the records, [n]; where times are equal, in random order.
    """

    times: NDArray[np.float64]
    members: Numbers

    @classmethod
    def build(cls, times: NDArray[np.float64], numbers: Numbers, seed: int) -> Times:
        """Sort the records `numbers` by their time; the same arguments give the same order."""
        shuffled = np.random.default_rng(seed).permutation(numbers)
        members = shuffled[np.argsort(times[shuffled], kind="stable")]
        return cls(times[members], members)

    def around(self, time: float, reach: float, chance: float, enough: int, keep: Keep) -> Numbers:
        """At least `enough` acceptable numbers near the time, or all within reach of it.

        Records of exactly this time come first, beginning anywhere among them: `chance`, from 0 to
        1, says where, so that not everybody is given the same few. NaN only meets NaN.
        """
        places = np.array([time - reach, time, time + reach])
        lowest, left, _ = np.searchsorted(self.times, places, "left").tolist()
        _, right, highest = np.searchsorted(self.times, places, "right").tolist()
        found = [self._same(left, right, chance, enough, keep)]
        accepted, count = len(found[0]), _FIRST_SIZE
        while accepted < enough and (lowest < left or right < highest):
            lower, upper = max(lowest, left - count), min(highest, right + count)
            both = np.concatenate([self.members[lower:left], self.members[right:upper]])
            found.append(keep(both))
            accepted += len(found[-1])
            left, right, count = lower, upper, count * 2
        return np.concatenate(found)

    def _same(self, left: int, right: int, chance: float, enough: int, keep: Keep) -> Numbers:
        """Go round the records [left, right), from a place given by chance, until it is enough."""
        size = right - left
        found: list[Numbers] = [np.zeros(0, np.int64)]
        first, count, accepted = 0, _FIRST_SIZE, 0
        while first < size and accepted < enough:
            steps = np.arange(first, min(first + count, size)) + int(chance * size)
            found.append(keep(self.members[left + steps % size]))
            accepted += len(found[-1])
            first, count = first + count, count * 2
        return np.concatenate(found)


def _centres(
    sample: NDArray[np.float32], count: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Spherical k-means; cells that end up empty are given up."""
    if not len(sample):
        return sample
    everything = np.arange(len(sample))
    centres = sample[np.sort(rng.choice(len(sample), count, replace=False))]
    for _ in range(_ROUNDS):
        cell, _ = _nearest(sample, everything, centres)
        order = np.argsort(cell, kind="stable")
        _, starts = np.unique(cell[order], return_index=True)
        sums = np.add.reduceat(sample[order], starts, axis=0, dtype=np.float64)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return centres


def _nearest(
    vectors: NDArray[np.float32], numbers: Numbers, centres: NDArray[np.float32]
) -> tuple[Numbers, NDArray[np.float32]]:
    """The cell of each record and its cosine with the centre, [len(numbers)] each."""
    cell = np.zeros(len(numbers), np.int64)
    highest = np.zeros(len(numbers), np.float32)
    for first in range(0, len(numbers), _BLOCK):
        block = slice(first, first + _BLOCK)
        cosines = vectors[numbers[block]] @ centres.T
        cell[block] = cosines.argmax(axis=1)
        highest[block] = cosines.max(axis=1)
    return cell, highest


def _angle(cosines: NDArray[np.float64] | float) -> NDArray[np.float64]:
    return np.asarray(np.arccos(np.clip(cosines, -1, 1)))
