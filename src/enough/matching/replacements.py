"""Matched replacements m_k(d; u): what other users did where this one did d.

In: a dataset, the pools of some requests, the leakage controls and an encoder. Out: for every pool
record K⁻ records of other users, or none, and the audit of how well they match. The matcher gets
numbers only; actions and references are seen by the rules that say what is legal, and by nobody
else. Records of others must be strictly earlier than the request, not barred by identity
(`legality`), and not the target interaction in other words (`LeakageControls`). The last compares
texts, so it is only asked about records that would be taken; what it removes is barred and the
request is matched again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from enough.data.leakage import LeakageControls, Progress
from enough.data.splits import SliceConfig
from enough.errors import DataError
from enough.matching.balance import Balance, audit
from enough.matching.covariates import Numbers, covariates, start_of, unit_vectors
from enough.matching.legality import Legality
from enough.matching.matcher import Asked, Match, MatchConfig, Matcher
from enough.protocols import Encoder, Floats
from enough.records import Dataset, Example, Record, Request
from enough.retrieval.pools import PooledExample, RetrievalConfig

_TOGETHER = 256  # requests whose candidates are compared with targets in one go


@dataclass(frozen=True, slots=True)
class AuditConfig:
    """Whose pools, how they are made and how their records are matched."""

    slices: SliceConfig = field(default_factory=SliceConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    matching: MatchConfig = field(default_factory=MatchConfig)


@dataclass(frozen=True, slots=True)
class Replacements:
    """The replacements of many requests.

    Attributes:
        records: for every example, for every place of its pool, K⁻ records or ().
        balance: how well they match.
    """

    records: tuple[tuple[tuple[Record, ...], ...], ...]
    balance: Balance


def match_pools(
    dataset: Dataset,
    pooled: Sequence[PooledExample],
    controls: LeakageControls,
    encoder: Encoder,
    config: MatchConfig,
    *,
    progress: Progress | None = None,
) -> Replacements:
    """Replacements of some requests. To match in several goes, keep a `PoolMatcher`."""
    matcher = PoolMatcher(dataset, controls, encoder, config, progress=progress)
    return matcher.match(pooled, progress)


class PoolMatcher:
    """Finds replacements in one dataset; every context is embedded once, when it is made."""

    def __init__(
        self,
        dataset: Dataset,
        controls: LeakageControls,
        encoder: Encoder,
        config: MatchConfig,
        *,
        progress: Progress | None = None,
    ) -> None:
        report = progress or (lambda *_: None)
        self._controls, self._encoder = controls, encoder
        self._records = [record for history in dataset.histories.values() for record in history]
        self._number = {(r.owner, r.id): n for n, r in enumerate(self._records)}
        self._table = covariates(
            self._records, dataset.task, encoder, lambda *counts: report("embedding", *counts)
        )
        self._owner = dict(
            zip((r.owner for r in self._records), self._table.owner.tolist(), strict=True)
        )
        self._legality = Legality(dataset, self._records)
        self._matcher = Matcher(self._table, self._legality.things, config)

    def match(
        self, pooled: Sequence[PooledExample], progress: Progress | None = None
    ) -> Replacements:
        """Replacements of every pool record of these requests, and their audit."""
        asked: list[Asked] = []
        matches: list[list[Match]] = []
        for first in range(0, len(pooled), _TOGETHER):
            some = pooled[first : first + _TOGETHER]
            new = self._asked(some)
            matches += self._matched([one.example for one in some], new)
            # The audit does not read what was barred, and for many requests that is a lot to keep.
            asked += [replace(one, barred=np.zeros(0, np.int64)) for one in new]
            if progress is not None:
                progress("matching", len(asked), len(pooled))
        found = tuple(
            tuple(tuple(self._records[n] for n in match.controls) for match in some)
            for some in matches
        )
        return Replacements(found, audit(self._table, asked, matches))

    def _asked(self, pooled: Sequence[PooledExample]) -> list[Asked]:
        requests = [one.example.request for one in pooled]
        return [
            Asked(
                records=self._numbers(one),
                query=query,
                owner=self._owner.get(request.user, -1),
                start=start_of(request.moment),
                barred=self._legality.barred(request),
                salt=_salt(request.id),
            )
            for one, request, query in zip(pooled, requests, self._queries(requests), strict=True)
        ]

    def _matched(self, examples: Sequence[Example], asked: Sequence[Asked]) -> list[list[Match]]:
        """Match, bar what shows the target, and match again until nothing is barred."""
        matches = [self._matcher.match(one) for one in asked]
        barred = [one.barred for one in asked]
        cleared: list[set[int]] = [set() for _ in asked]
        pending = list(range(len(asked)))
        while pending:
            chosen = [{n for match in matches[i] for n in match.controls} for i in pending]
            lists = [sorted(new - cleared[i]) for i, new in zip(pending, chosen, strict=True)]
            illegal = self._illegal([examples[i] for i in pending], lists)
            for i, numbers, gone in zip(pending, lists, illegal, strict=True):
                cleared[i] |= set(numbers) - gone
                if gone:
                    barred[i] = np.concatenate([barred[i], np.array(sorted(gone), np.int64)])
                    self._rematch(replace(asked[i], barred=barred[i]), matches[i], gone)
            pending = [i for i, gone in zip(pending, illegal, strict=True) if gone]
        return matches

    def _rematch(self, asked: Asked, matches: list[Match], gone: set[int]) -> None:
        """Match those records again that had an illegal control."""
        places = [p for p, match in enumerate(matches) if gone & set(match.controls)]
        again = self._matcher.match(replace(asked, records=asked.records[places]))
        for place, match in zip(places, again, strict=True):
            matches[place] = match

    def _illegal(
        self, examples: Sequence[Example], lists: Sequence[Sequence[int]]
    ) -> list[set[int]]:
        """Which of the records listed for each example the leakage controls remove."""
        shortlists = []
        for example, numbers in zip(examples, lists, strict=True):
            others = (self._records[n] for n in numbers)
            # Ids are unique within a history only, and this one is put together from many. The
            # user's own record of the target says best what the target looks like.
            shown = [replace(other, id=f"{other.owner}\0{other.id}") for other in others]
            shortlists.append((*shown, *self._legality.own_targets(example.request)))
        legal = self._controls.legal_many(
            [example.request for example in examples],
            shortlists,
            [example.reference for example in examples],
        )
        illegal = []
        for numbers, shortlist, left in zip(lists, shortlists, legal, strict=True):
            kept = {record.id for record in left.records}
            pairs = zip(numbers, shortlist, strict=False)  # without the user's own targets
            illegal.append({number for number, record in pairs if record.id not in kept})
        return illegal

    def _numbers(self, pooled: PooledExample) -> Numbers:
        try:
            numbers = [self._number[c.record.owner, c.record.id] for c in pooled.pool]
        except KeyError as error:
            raise DataError(f"record {error} of a pool is not in the dataset") from None
        return np.array(numbers, np.int64)

    def _queries(self, requests: Sequence[Request]) -> Floats:
        if self._table.has_content.any():
            return unit_vectors(self._encoder, [request.query for request in requests], "query")
        return np.zeros((len(requests), 0), np.float32)


def _salt(request_id: str) -> int:
    raw = request_id.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "big")
