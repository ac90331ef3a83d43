"""What is so, kept apart from anything a model sees: what each record is to each request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from enough.data.synthetic.domain import Domain, Facet, Item

Placed = tuple[int, Item]
"""When a record was written (in the domain's ticks), and what it is about."""


class Role(StrEnum):
    """What a legal record is to a request."""

    USEFUL = "useful"
    """It shows a habit the answer turns on."""
    REDUNDANT = "redundant"
    """It shows only habits that useful records already show; it could stand in for one of them."""
    IRRELEVANT = "irrelevant"
    """It says nothing about the answer."""
    CONFLICTING = "conflicting"
    """It shows a habit the answer turns on as it was before the owner changed it."""


class Kind(StrEnum):
    """What a request asks of the history."""

    ONE = "one useful"
    SEVERAL = "several useful"
    CHANGED = "changed mind"
    CLEAR = "none useful: clear without history"
    UNSEEN = "none useful: history is silent"

    @property
    def has_useful(self) -> bool:
        """Whether the history holds anything worth showing."""
        return self in (Kind.ONE, Kind.SEVERAL, Kind.CHANGED)


@dataclass(frozen=True)
class Habits:
    """One person's habits: facet -> (since which tick, habit), oldest first."""

    turns: Mapping[Facet, tuple[tuple[int, str], ...]]

    def at(self, tick: int, facets: Iterable[Facet]) -> dict[Facet, str]:
        """The habits about these facets as they are at this time."""
        return {
            facet: next(habit for since, habit in reversed(self.turns[facet]) if since <= tick)
            for facet in facets
        }


@dataclass(frozen=True)
class Asked:
    """The truth about one request.

    Attributes:
        kind: what it asks of the history.
        needed: the facets its answer turns on.
        roles: legal record id -> role. The target, copies of it and records that are not strictly
            earlier have none.
        shown: legal record id -> those of the needed facets it shows as they are now.
    """

    kind: Kind
    needed: tuple[Facet, ...]
    roles: Mapping[str, Role]
    shown: Mapping[str, tuple[Facet, ...]]


@dataclass(frozen=True)
class Truth:
    """Roles and kinds, and the latent preferences they follow from.

    Attributes:
        asked: request id -> the truth about it.
        habits: user -> habits.
        items: record id -> when it was written and what it is about.
    """

    asked: Mapping[str, Asked]
    habits: Mapping[str, Habits]
    items: Mapping[str, Placed]

    def kind_of(self, request_id: str) -> Kind:
        """The kind of a request."""
        return self.asked[request_id].kind

    def role_of(self, request_id: str, record_id: str, given: Iterable[str] | None = None) -> Role:
        """The role of a record, or the role it has once the records `given` are in the profile.

        Of records that show the same, one (by lot) is useful and the others are redundant. With
        `given`, the first that is taken is the useful one, whichever it is.

        Raises:
            KeyError: if the record is not a legal one of the request.
        """
        asked = self.asked[request_id]
        role = asked.roles[record_id]
        if given is None or role not in (Role.USEFUL, Role.REDUNDANT):
            return role
        seen = {facet for one in given for facet in asked.shown[one]}
        return Role.REDUNDANT if seen.issuperset(asked.shown[record_id]) else Role.USEFUL


def judge(
    domain: Domain, habits: Habits, kind: Kind, target: Placed, legal: Mapping[str, Placed]
) -> Asked:
    """Roles follow from habits and dates alone; among equals the lot decides."""
    now = habits.at(target[0], target[1].facets)
    needed = domain.decisive(target[1].facets, now)
    roles = dict.fromkeys(legal, Role.IRRELEVANT)
    shown: dict[str, tuple[Facet, ...]] = dict.fromkeys(legal, ())
    for record, (tick, item) in legal.items():
        then = habits.at(tick, item.facets)
        bearing = tuple(f for f in domain.decisive(item.facets, then) if f in needed)
        if any(then[facet] != now[facet] for facet in bearing):
            roles[record] = Role.CONFLICTING
        elif bearing:
            roles[record], shown[record] = Role.REDUNDANT, bearing
    covered: set[Facet] = set()
    for facet in needed:
        showing = sorted(record for record in legal if facet in shown[record])
        if showing and facet not in covered:
            record = Random("".join(showing)).choice(showing)
            roles[record] = Role.USEFUL
            covered |= set(shown[record])
    return Asked(kind, needed, roles, shown)
