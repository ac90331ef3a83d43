"""How far records are from each other, covariate by covariate.

In: the covariate table, a record and some others, as numbers. Out: one difference per other record.
Lengths and times are measured in standard deviations over the task's records, so that calipers mean
the same in a log of one week and in one of twenty years.
"""

from __future__ import annotations

import math

import numpy as np

from enough.matching.covariates import Covariates, Numbers, Values
from enough.protocols import Floats


class Differences:
    """Differences between one record and others, each [len(numbers)]."""

    def __init__(self, table: Covariates) -> None:
        self._table = table
        self._length_spread = _spread(table.log_length[table.has_content])
        self.time_spread = _spread(table.time)

    def in_content(self, record: int, query: Floats, numbers: Numbers) -> tuple[Values, Values]:
        """Cosine distance to the record; difference of the cosines with the query."""
        vectors, own = self._table.vectors[numbers], self._table.vectors[record]
        relevance = np.abs(vectors @ query - own @ query)
        return (1 - vectors @ own).astype(np.float64), relevance.astype(np.float64)

    def in_length(self, record: int, numbers: Numbers) -> Values:
        """Of log(1 + letters), in standard deviations."""
        lengths = self._table.log_length
        return np.asarray(np.abs(lengths[numbers] - lengths[record]) / self._length_spread)

    def in_time(self, record: int, numbers: Numbers) -> Values:
        """In standard deviations; infinite where one has no time, zero where neither has."""
        there, here = self._table.time[numbers], self._table.time[record]
        if math.isnan(here):
            return np.where(np.isnan(there), 0.0, math.inf)
        apart = np.abs(there - here) / self.time_spread
        return np.where(np.isnan(apart), math.inf, apart)

    def in_metadata(self, record: int, numbers: Numbers) -> Values:
        """The share of fields that differ."""
        metadata = self._table.metadata
        if metadata.shape[1] == 0:
            return np.zeros(len(numbers))
        return np.asarray((metadata[numbers] != metadata[record]).mean(axis=1))


def _spread(values: Values) -> float:
    known = values[~np.isnan(values)]
    return float(known.std()) or 1.0 if known.size else 1.0
