"""Shares of categories by order and depth, and differences on the same prefixes.

In: rows of continuations. Out: means with intervals over users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from enough.diagnostics.stopping.continuation_outcomes import (
    BENEFICIAL,
    CATEGORIES,
    HARMFUL,
    ORDERS,
    ContinuationRow,
)
from enough.evaluation.intervals import Interval, clustered

Cells = Mapping[tuple[str, int], Sequence[ContinuationRow]]
"""(order, depth) -> rows, those of all cells in the same order of requests."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Means over prefixes of one order and depth.

    Attributes:
        prefixes, users: how many there are.
        tokens: that were added.
        shares: of CATEGORIES.
        change: of J, against the stopped prefix.
    """

    prefixes: int
    users: int
    tokens: Interval
    shares: tuple[Interval, ...]
    change: Interval

    def share(self, name: str) -> Interval:
        """Of one category."""
        return self.shares[CATEGORIES.index(name)]


def request_of(row: ContinuationRow) -> tuple[str, str]:
    """Task and id."""
    return row.tried.task, row.tried.request_id


def cells_of(rows: Sequence[ContinuationRow]) -> dict[tuple[str, int], list[ContinuationRow]]:
    """Rows of continuations by order and depth."""
    found: dict[tuple[str, int], list[ContinuationRow]] = {}
    for row in sorted((row for row in rows if row.depth), key=request_of):
        found.setdefault((row.order, row.depth), []).append(row)
    return dict(sorted(found.items(), key=lambda item: (ORDERS.index(item[0][0]), item[0][1])))


def summarised(rows: Sequence[ContinuationRow]) -> Cell:
    """Of at least one row."""
    users = [row.tried.cluster for row in rows]
    return Cell(
        prefixes=len(rows),
        users=len(set(users)),
        tokens=clustered([row.extra_tokens for row in rows], users),
        shares=tuple(clustered([_is(row, name) for row in rows], users) for name in CATEGORIES),
        change=clustered([_change(row) for row in rows], users),
    )


def differences(
    ours: Sequence[ContinuationRow], theirs: Sequence[ContinuationRow]
) -> tuple[Interval, Interval, Interval]:
    """Of the shares that are beneficial and harmful, and of J; on the same prefixes."""
    users = [row.tried.cluster for row in ours]
    both = list(zip(ours, theirs, strict=True))
    return (
        clustered([_is(a, BENEFICIAL) - _is(b, BENEFICIAL) for a, b in both], users),
        clustered([_is(a, HARMFUL) - _is(b, HARMFUL) for a, b in both], users),
        clustered([_change(a) - _change(b) for a, b in both], users),
    )


def _is(row: ContinuationRow, name: str) -> float:
    return float(row.category == name)


def _change(row: ContinuationRow) -> float:
    return (row.tried.net or 0.0) - row.stopped_net
