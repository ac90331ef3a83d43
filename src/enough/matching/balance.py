"""How well controls match: the balance audit.

In: the covariate table, what was asked of the matcher and what it answered. Out: how many records
have their controls and why the others have none, how often record and control fall into the same
strata, and the standardised mean difference (SMD) of every covariate. Actions and answers play no
part in it, so calipers may be chosen by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from enough.matching.covariates import Covariates, Flags, Numbers, Values
from enough.matching.matcher import Asked, Match, Outcome

_STRATA = 5  # quintiles: five strata take away most of a covariate's bias (Cochran, 1968)
_BLOCK = 8192  # vectors read at once
_ROUNDING = 1e-7  # what is smaller may have come of adding up


@dataclass(frozen=True, slots=True)
class Balance:
    """The audit of one task, or of several together.

    Attributes:
        pairs: pool records of requests that controls were looked for.
        matched: those with K⁻ controls.
        rejected: those with enough legal records of others, but not within the calipers.
        unavailable: those with fewer than K⁻ legal records of others.
        compared: (record, control) pairs for which there are strata to agree in.
        agreeing: those that agree in all of them.
        named: SMD of each covariate that has a name; above 0 where the user's own is larger.
        content: SMD of each dimension of the embedded context.
    """

    pairs: int
    matched: int
    rejected: int
    unavailable: int
    compared: int = 0
    agreeing: int = 0
    named: tuple[tuple[str, float], ...] = ()
    content: tuple[float, ...] = ()

    @property
    def coverage(self) -> float | None:
        """Share of pool records with K⁻ valid controls."""
        return _share(self.matched, self.pairs)

    @property
    def reject(self) -> float | None:
        """Share of pool records excluded by the calipers."""
        return _share(self.rejected, self.pairs)

    @property
    def missing(self) -> float | None:
        """Share of pool records with fewer than K⁻ legal records of others."""
        return _share(self.unavailable, self.pairs)

    @property
    def exact(self) -> float | None:
        """Share of controls in all strata of their record; None where there are no strata."""
        return _share(self.agreeing, self.compared)

    @property
    def mean_smd(self) -> float | None:
        """Mean absolute SMD over covariates; None where there are none."""
        return float(sizes.mean()) if (sizes := self._sizes()).size else None

    @property
    def p90_smd(self) -> float | None:
        """90th percentile of the absolute SMD over covariates."""
        return float(np.percentile(sizes, 90)) if (sizes := self._sizes()).size else None

    def _sizes(self) -> Values:
        return np.abs(np.array([smd for _, smd in self.named] + list(self.content), np.float64))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def together(balances: Iterable[Balance]) -> Balance:
    """Several tasks as one: counts are added, covariates stand beside each other."""
    parts = list(balances)
    return Balance(
        pairs=sum(part.pairs for part in parts),
        matched=sum(part.matched for part in parts),
        rejected=sum(part.rejected for part in parts),
        unavailable=sum(part.unavailable for part in parts),
        compared=sum(part.compared for part in parts),
        agreeing=sum(part.agreeing for part in parts),
        named=tuple(pair for part in parts for pair in part.named),
        content=tuple(smd for part in parts for smd in part.content),
    )


def audit(table: Covariates, asked: Sequence[Asked], matches: Sequence[Sequence[Match]]) -> Balance:
    """The audit of some requests' matches, one list of matches per request."""
    flat = [match for some in matches for match in some]
    is_matched = np.array([bool(match.controls) for match in flat], np.bool_)
    records = np.array([n for one in asked for n in one.records], np.int64)
    queries = np.repeat(np.arange(len(asked)), [len(one.records) for one in asked])
    per_record = max((len(match.controls) for match in flat), default=0)
    controls = np.array([n for match in flat for n in match.controls], np.int64)
    own = _named(table, asked, queries, records)
    other = _named(table, asked, np.repeat(queries[is_matched], per_record), controls)
    agrees = _agreement(own, other, is_matched, per_record)
    if table.metadata.shape[1]:
        mine = np.repeat(records[is_matched], per_record)
        agrees.append((table.metadata[controls] == table.metadata[mine]).all(axis=1))
    named = {name: smd(own[name][is_matched], other[name]) for name in own}
    return Balance(
        pairs=len(flat),
        matched=int(is_matched.sum()),
        rejected=sum(match.outcome is Outcome.REJECTED for match in flat),
        unavailable=sum(match.outcome is Outcome.UNAVAILABLE for match in flat),
        compared=controls.size if agrees else 0,
        agreeing=int(np.all(agrees, axis=0).sum()) if agrees else 0,
        named=tuple((name, value) for name, value in named.items() if value is not None),
        content=_content_smds(table, records[is_matched], controls),
    )


def smd(own: Values, controls: Values) -> float | None:
    """Standardised mean difference; None if the covariate is absent or the same everywhere."""
    # All records have equally many controls: with a weight of 1/K⁻, their mean is the plain one.
    own, controls = own[~np.isnan(own)], controls[~np.isnan(controls)]
    if not own.size or not controls.size:
        return None
    return _standardised(own.mean(), controls.mean(), own.var(), controls.var())


def _standardised(own: float, other: float, own_var: float, other_var: float) -> float | None:
    spread = math.sqrt((own_var + other_var) / 2)
    if spread > _ROUNDING:
        return float((own - other) / spread)
    return None if abs(own - other) <= _ROUNDING else math.copysign(math.inf, own - other)


def _content_smds(table: Covariates, records: Numbers, controls: Numbers) -> tuple[float, ...]:
    (own, own_var), (other, other_var) = (_content_moments(table, n) for n in (records, controls))
    parts = zip(own.tolist(), other.tolist(), own_var.tolist(), other_var.tolist(), strict=True)
    return tuple(value for part in parts if (value := _standardised(*part)) is not None)


def _content_moments(table: Covariates, numbers: Numbers) -> tuple[Values, Values]:
    """Mean and variance of every dimension; a record counts as often as it is named."""
    weights = np.bincount(numbers, minlength=len(table)) * table.has_content
    mean, square = np.zeros((2, table.vectors.shape[1] if weights.any() else 0))
    for first in range(0, len(table) if weights.any() else 0, _BLOCK):
        vectors = table.vectors[first : first + _BLOCK].astype(np.float64)
        shares = weights[first : first + _BLOCK] / weights.sum()
        mean += shares @ vectors
        square += shares @ vectors**2
    return mean, np.maximum(square - mean**2, 0)


def _named(
    table: Covariates, asked: Sequence[Asked], queries: Numbers, numbers: Numbers
) -> dict[str, Values]:
    """Named covariates, NaN where there is none; `queries`, ascending, says for whom."""
    content = table.has_content[numbers]
    length = np.where(content, table.log_length[numbers], math.nan)
    relevance = np.full(len(numbers), math.nan)
    bounds = np.searchsorted(queries, np.arange(len(asked) + 1))
    for one, first, last in zip(asked, bounds[:-1], bounds[1:], strict=True):
        here = first + np.flatnonzero(content[first:last])
        relevance[here] = table.vectors[numbers[here]] @ one.query
    return {"log length": length, "relevance": relevance, "time": table.time[numbers]}


def _agreement(
    own: dict[str, Values], other: dict[str, Values], is_matched: Flags, per_record: int
) -> list[Flags]:
    """Whether each control is in its record's stratum, for every covariate that has strata."""
    agrees = []
    for name, values in own.items():
        bounds = _bounds(values)
        here, there = _bins(values, bounds), _bins(other[name], bounds)
        if np.unique(here).size > 1:
            agrees.append(there == np.repeat(here[is_matched], per_record))
    return agrees


def _bounds(values: Values) -> Values:
    """Inner bounds of the strata, from all pool records, matched or not."""
    known = values[~np.isnan(values)]
    inner = np.arange(1, _STRATA) / _STRATA
    return np.unique(np.quantile(known, inner)) if known.size else known


def _bins(values: Values, bounds: Values) -> Numbers:
    """The stratum of each value, −1 where there is none."""
    return np.where(np.isnan(values), -1, np.searchsorted(bounds, values, "right"))
