"""How far replacements are from the records they replace, before anybody acted.

In: for some requests of one task, records and what stands in their places. Out: the audit of
`matching.balance`, as if the replacements were controls. Actions are no covariates: a record with
another action is as far from itself as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from enough.matching.balance import Balance, audit
from enough.matching.covariates import Numbers, covariates, unit_vectors
from enough.matching.matcher import Asked, Match, Outcome
from enough.protocols import Encoder
from enough.records import Record, Request


@dataclass(frozen=True, slots=True)
class Replaced:
    """Records of one request and what stands in for each of them."""

    request: Request
    records: tuple[Record, ...]
    replacements: tuple[Record, ...]


def replacement_balance(cases: Sequence[Replaced], encoder: Encoder) -> Balance:
    """The audit of at least one request; all are of one task."""
    everything = {
        (record.owner, record.id): record
        for case in cases
        for record in (*case.records, *case.replacements)
    }
    number = {key: n for n, key in enumerate(everything)}
    table = covariates(list(everything.values()), cases[0].request.task, encoder)
    queries = np.zeros((len(cases), 0), np.float32)  # [requests, dim]
    if table.has_content.any():
        queries = unit_vectors(encoder, [case.request.query for case in cases], "query")

    def numbers(records: Sequence[Record]) -> Numbers:
        return np.array([number[record.owner, record.id] for record in records], np.int64)

    asked = [
        Asked(numbers(case.records), query, -1, 0, np.zeros(0, np.int64), 0)
        for case, query in zip(cases, queries, strict=True)
    ]
    matches = [
        [Match(Outcome.MATCHED, (n,)) for n in numbers(case.replacements).tolist()]
        for case in cases
    ]
    return audit(table, asked, matches)
