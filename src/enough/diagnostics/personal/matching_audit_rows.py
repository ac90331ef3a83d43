"""Settings and rows of the matching audit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from enough.matching.balance import Balance

POOL, SELECTED = "pool", "selected"


@dataclass(frozen=True, slots=True)
class MatchingAuditConfig:
    """There is nothing to set: the study says how records are matched."""


@dataclass(frozen=True, slots=True)
class MatchingAuditRow:
    """Records of one request, or of all requests of a task together.

    Attributes:
        part: "pool" or "selected".
        request_id, user: None for all requests of the task; only such rows have what comes after
            `rejected`.
        records, matched, rejected: counts; those neither matched nor rejected have too few legal
            records of others.
        compared, agreeing: pairs with strata to agree in, and those that agree in all.
        names, named: covariates with a name and their standardised mean differences.
        content: that of every dimension of the embedded context.
    """

    task: str
    part: str
    request_id: str | None
    user: str | None
    records: int
    matched: int
    rejected: int
    compared: int = 0
    agreeing: int = 0
    names: tuple[str, ...] = ()
    named: tuple[float, ...] = ()
    content: tuple[float, ...] = ()

    @property
    def balance(self) -> Balance:
        """As the matcher's audit has it; without differences where they have no spread."""
        # A single record has none: any difference is infinitely many spreads wide.
        is_known = all(math.isfinite(smd) for smd in (*self.named, *self.content))
        return Balance(
            self.records,
            self.matched,
            self.rejected,
            self.records - self.matched - self.rejected,
            self.compared,
            self.agreeing,
            tuple(zip(self.names, self.named, strict=True)) if is_known else (),
            self.content if is_known else (),
        )
