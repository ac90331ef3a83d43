"""𝔖_i: the ordered, non-repeating profiles of one request that fit horizon and window.

In: a case and what its records take in a generator's window. Out: which records may follow a
profile, and random numbers of the request's own.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from enough.prompts.profile_sequences import Profile
from enough.protocols import Budget
from enough.teacher.case import Case


@dataclass(frozen=True, slots=True, eq=False)
class SearchSpace:
    """A case and its limits.

    Attributes:
        case: the request, its pool and controls.
        budget: K_i, the room for a profile and the tokens of the pool's records.
        tokens: of every numbered record of the case: the pool's, then the controls'.
    """

    case: Case
    budget: Budget
    tokens: tuple[int, ...]

    def room_after(self, profile: Profile) -> int:
        """Tokens that may still be added."""
        return self.budget.max_profile_tokens - sum(self.tokens[number] for number in profile)

    def feasible(self, profile: Profile) -> list[int]:
        """A(s) without STOP: places that may follow, in pool order; no repeat, no overflow."""
        if len(profile) >= self.budget.max_records:
            return []
        room = self.room_after(profile)
        return [
            place
            for place, tokens in enumerate(self.budget.record_tokens)
            if tokens <= room and place not in profile
        ]

    def random(self, seed: int, *purpose: int) -> np.random.Generator:
        """Numbers that depend on these and the request alone, in whatever order one asks."""
        name = self.case.name.encode("utf-8", "surrogatepass")
        return np.random.default_rng([seed, zlib.crc32(name), *purpose])
