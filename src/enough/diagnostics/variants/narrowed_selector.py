"""A selector that sees less than there is: a shorter pool, a nearer horizon.

In: any selector, M and K_max. Out: a selector. Settings with different pools and horizons can then
be judged on the same requests, with the same matched records behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from enough.protocols import Budget, Selector
from enough.records import Pool, Request, Selection


@dataclass(frozen=True, slots=True)
class NarrowedSelector:
    """Implements `protocols.Selector`.

    Attributes:
        inner: who chooses.
        pool: so many of the best candidates are shown.
        max_records: so many may be taken at most.
    """

    inner: Selector
    pool: int
    max_records: int

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """What the selector takes of the shorter pool."""
        shown = pool[: self.pool]
        small = replace(
            budget,
            max_records=min(budget.max_records, self.max_records, len(shown)),
            record_tokens=budget.record_tokens[: self.pool],
        )
        return self.inner.select(request, shown, small)
