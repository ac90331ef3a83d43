"""Controls for records: other users' records that looked alike before anybody acted.

In: the covariate table of a task, and for a request the places of its pool records, its query
vector, its time and what is barred. Out: for each record exactly K⁻ control numbers, nearest first,
or the reason why there are none. Only numbers come in here; there is no action to peek at.

A control lies within every caliper; among those the nearest by the sum of all differences are
taken, each in standard deviations over the task's records. What a request gets depends on the
table, the request and the config, not on what else is matched in the same run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from enough.config import LATER
from enough.errors import ConfigError
from enough.matching.covariates import Covariates, Flags, Numbers, Values
from enough.matching.differences import Differences
from enough.matching.neighbours import Cells, Times
from enough.protocols import Floats
from enough.retrieval.encoders import located_encoder

_LOOKED_AT = 4  # times K⁻ acceptable candidates are enough to choose from
_DECIMALS = 6  # of a difference or a distance: below that, bits depend on the machine
_ROUNDING = 10.0**-_DECIMALS


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """How close a control must be. Without content, only time and metadata count.

    Attributes:
        controls: K⁻, how many each record gets; fewer are never given.
        content: largest cosine distance (1 − cosine) of the two contexts.
        length: largest difference of log(1 + letters), in standard deviations over the task.
        relevance: largest difference of the two cosines with the query.
        time: largest difference of the dates, in standard deviations over the task; a record with a
            date is never matched with one without.
        metadata: largest share of metadata fields that differ; 1 asks for none to agree.
        seed: of the cells that are searched and of the order where nothing tells records apart.
        encoder: compares contexts and queries, named as `retrieval.encoder` is; None is the default
            one, whatever makes the pools. Calipers of content and relevance are made for it.
    """

    controls: int = 3
    content: float = 0.7
    length: float = 1.0
    relevance: float = 0.07
    time: float = 1.0
    metadata: float = 1.0
    seed: int = 0
    encoder: str | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoder", located_encoder(self.encoder))
        if self.controls < 1:
            raise ConfigError(f"matching.controls must be at least 1, not {self.controls}")
        for name in ("content", "length", "relevance", "time", "metadata"):
            if not (value := getattr(self, name)) >= 0:
                raise ConfigError(f"matching.{name} must not be negative, not {value}")
        if self.seed < 0:
            raise ConfigError(f"matching.seed must not be negative, not {self.seed}")


class Outcome(StrEnum):
    """What became of a pool record."""

    MATCHED = "matched"
    REJECTED = "rejected by caliper"
    UNAVAILABLE = "too few legal records"


@dataclass(frozen=True, slots=True)
class Match:
    """The control numbers of a record, nearest first; none unless it is matched."""

    outcome: Outcome
    controls: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One request, as the matcher sees it.

    Attributes:
        records: numbers of the pool records that need controls, [p].
        query: unit vector of what is searched with, [dim].
        owner: whose records are no controls.
        start: controls must have ended by then (`covariates.start_of`).
        barred: numbers that are not legal for reasons of their own.
        salt: a number of the request's own, for what is left to chance.
    """

    records: Numbers
    query: Floats
    owner: int
    start: int
    barred: Numbers
    salt: int


class Matcher:
    """Finds controls among the records of one task.

    `things` has equal numbers for records of one thing, such as the copies that co-authors have of
    a paper, [n]; a record's controls are K⁻ different things.
    """

    def __init__(self, table: Covariates, things: Numbers, config: MatchConfig) -> None:
        self._table = table
        self._things = things
        self._config = config
        self._apart = Differences(table)
        numbers = np.arange(len(table), dtype=np.int64)
        self._cells = Cells.build(table.vectors, numbers[table.has_content], config.seed)
        self._times = Times.build(table.time, numbers[~table.has_content], config.seed)

    def match(self, asked: Asked) -> list[Match]:
        """One result per asked record, in their order."""
        table = self._table
        legal = (table.owner != asked.owner) & (table.end <= asked.start)
        legal[asked.barred] = False
        none = Outcome.REJECTED if legal.sum() >= self._config.controls else Outcome.UNAVAILABLE
        matches = []
        for record in asked.records.tolist():
            controls = self._controls(record, asked, legal)
            matches.append(Match(Outcome.MATCHED, controls) if controls else Match(none))
        return matches

    def _controls(self, record: int, asked: Asked, legal: Flags) -> tuple[int, ...]:
        """The nearest acceptable records, or nothing if they are too few."""
        wanted = self._config.controls
        enough = wanted * _LOOKED_AT
        while True:
            found = self._acceptable(record, asked, legal, enough)
            distance = self._distance(record, asked.query, found)
            nearest: dict[int, int] = {}
            for number in found[np.argsort(distance, kind="stable")].tolist():
                nearest.setdefault(int(self._things[number]), number)
                if len(nearest) == wanted:
                    return tuple(nearest.values())
            if len(found) < enough:
                return ()
            enough *= 4

    def _acceptable(self, record: int, asked: Asked, legal: Flags, enough: int) -> Numbers:
        """Legal records within the calipers, at least `enough` of them if there are as many."""

        def keep(numbers: Numbers) -> Numbers:
            return self._within(record, asked.query, numbers[legal[numbers]])

        table, config = self._table, self._config
        if table.has_content[record]:
            reach = config.content + _ROUNDING
            return np.sort(self._cells.around(table.vectors[record], reach, enough, keep))
        reach = (config.time + _ROUNDING) * self._apart.time_spread
        chance = np.random.default_rng((config.seed, asked.salt, record)).random()
        return self._times.around(float(table.time[record]), reach, chance, enough, keep)

    def _within(self, record: int, query: Floats, numbers: Numbers) -> Numbers:
        """Those within every caliper; vectors, the dearest, are compared last."""
        table, config, apart = self._table, self._config, self._apart
        in_time = apart.in_time(record, numbers)
        close = np.isfinite(in_time) & _at_most(in_time, config.time)
        close &= _at_most(apart.in_metadata(record, numbers), config.metadata)
        if not table.has_content[record]:
            return numbers[close]
        close &= _at_most(apart.in_length(record, numbers), config.length)
        numbers = numbers[close]
        content, relevance = apart.in_content(record, query, numbers)
        near = _at_most(content, config.content) & _at_most(relevance, config.relevance)
        return numbers[near]

    def _distance(self, record: int, query: Floats, numbers: Numbers) -> Values:
        """The sum of all differences, [len(numbers)]."""
        apart = self._apart
        total = apart.in_time(record, numbers) + apart.in_metadata(record, numbers)
        if self._table.has_content[record]:
            content, relevance = apart.in_content(record, query, numbers)
            total += (content + relevance) / self._table.cosine_spread
            total += apart.in_length(record, numbers)
        return total.round(_DECIMALS)


def _at_most(differences: Values, caliper: float) -> Flags:
    """Rounded, so that the last bits of a vector do not decide who is accepted."""
    return np.asarray(differences.round(_DECIMALS) <= caliper, np.bool_)
