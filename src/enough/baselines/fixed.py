"""Fixed-length profiles: the first k records of the retriever, k = 0 being the empty profile."""

from __future__ import annotations

from dataclasses import dataclass

from enough.protocols import Budget
from enough.records import Pool, Record, Request, Selection


@dataclass(frozen=True, slots=True)
class FixedLength:
    """Takes records in pool order until it has k; one that does not fit whole is passed over."""

    k: int

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """At most k records of the pool, in its order."""
        chosen: list[Record] = []
        room = budget.max_profile_tokens
        for candidate, tokens in zip(pool, budget.record_tokens, strict=True):
            if len(chosen) == min(self.k, budget.max_records):
                break
            if tokens <= room:
                chosen.append(candidate.record)
                room -= tokens
        reason = f"{self.k} records asked for" if len(chosen) == self.k else "nothing more fits"
        return Selection(tuple(chosen), reason)
