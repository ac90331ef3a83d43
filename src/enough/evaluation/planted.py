"""Whether profiles hold what was planted: precision and recall of truly useful records.

In: rows of `outcomes` on a made-up world, and its truth, which no part of the system sees. Out: one
line per selector. Records that show the same habit are equals: the first one taken is useful, the
next are redundant, as `Truth.role_of` has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from enough.data.synthetic import Role
from enough.data.synthetic.truth import Truth
from enough.evaluation.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Planted:
    """Shares over all requests of the rows.

    Attributes:
        records: taken in all.
        useful, redundant, irrelevant, conflicting: shares of them; useful is the precision.
        recall: of the habits that answers turn on and legal records show, the share that is shown.
        stops_when_none: of requests without any useful record, the share that gets no record.
        takes_when_some: of requests with a useful record, the share that gets at least one.
    """

    selector: str
    records: int
    useful: float
    redundant: float
    irrelevant: float
    conflicting: float
    recall: float
    stops_when_none: float
    takes_when_some: float


def planted(rows: Sequence[Outcome], truth: Truth) -> list[Planted]:
    """One line per selector, in the order of the rows."""
    names = dict.fromkeys(row.selector for row in rows)
    return [_planted(name, [r for r in rows if r.selector == name], truth) for name in names]


def _planted(name: str, rows: Sequence[Outcome], truth: Truth) -> Planted:
    roles: list[Role] = []
    showable = shown = 0
    none: list[bool] = []
    some: list[bool] = []
    for row in rows:
        asked = truth.asked[row.request_id]
        roles += [
            truth.role_of(row.request_id, record, given=row.profile[:place])
            for place, record in enumerate(row.profile)
        ]
        there = {facet for facets in asked.shown.values() for facet in facets}
        showable += len(there)
        shown += len({facet for record in row.profile for facet in asked.shown[record]})
        (some if asked.kind.has_useful else none).append(bool(row.profile))
    return Planted(
        selector=name,
        records=len(roles),
        useful=_share(roles, Role.USEFUL),
        redundant=_share(roles, Role.REDUNDANT),
        irrelevant=_share(roles, Role.IRRELEVANT),
        conflicting=_share(roles, Role.CONFLICTING),
        recall=shown / showable if showable else 0.0,
        stops_when_none=1 - sum(none) / len(none) if none else 0.0,
        takes_when_some=sum(some) / len(some) if some else 0.0,
    )


def _share(roles: Sequence[Role], role: Role) -> float:
    return roles.count(role) / len(roles) if roles else 0.0
