"""Means and shares over rows of the exact-oracle diagnostic, with intervals over users."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from enough.diagnostics.oracle.exact_oracle_rows import ExactOracleRow
from enough.evaluation.intervals import Floats, Interval, Resampling, clustered, estimate

Rows = Sequence[ExactOracleRow]


def by_selector(rows: Rows) -> dict[str, list[ExactOracleRow]]:
    """In the order of the rows."""
    groups: dict[str, list[ExactOracleRow]] = {}
    for row in rows:
        groups.setdefault(row.found.selector, []).append(row)
    return groups


def share_of_decisions(rows: Rows, count: Callable[[ExactOracleRow], int]) -> Interval | None:
    """Counted decisions of all rows over all decisions; None where nobody had to decide."""
    parts = np.array([[count(row), row.found.decisions] for row in rows], np.float64)
    whole = parts.sum(axis=0)
    if not whole[1]:
        return None

    def ratio(means: Floats) -> Floats:
        # A draw of users without a decision says nothing, so it is set to the whole's.
        fill = np.full(means.shape[:-1], whole[0] / whole[1])
        np.divide(means[..., 0], means[..., 1], out=fill, where=means[..., 1] > 0)
        return fill

    return estimate(parts, Resampling([row.cluster for row in rows]), ratio).interval


def mean(rows: Rows, value: Callable[[ExactOracleRow], float]) -> Interval:
    """Over requests, users drawn with replacement."""
    return clustered([float(value(row)) for row in rows], [row.cluster for row in rows])
