"""One made-up person's log: habits, what they change, which records exist and what is asked when.

Records are planted so that each request has the kind drawn for it; no request shares a facet with
another, so what is planted for one says nothing about the next. Roles are *not* decided here: they
follow from habits and dates (`truth.judge`).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from enough.data.synthetic.domain import Domain, Facet, Item
from enough.data.synthetic.truth import Habits, Kind

_EVER = -(10**12)
_LEAN = 0.25
"""After a change of mind useful records are recent; so many of the others lean to the early side,
so that age alone does not tell what is useful."""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the log; `kind` is set where a request is made, `copy_of` for double entries."""

    tick: int
    item: Item
    kind: Kind | None = None
    copy_of: int | None = None


@dataclass(frozen=True, slots=True)
class Mix:
    """How a log is composed.

    Attributes:
        shares: weight of every kind of request.
        requests: how many are asked.
        history: fewest and most records, as far as what is planted allows.
        redundant: chance that a habit is shown once more, tried twice.
        on_topic: chance that a record which bears on a request is on its topic on purpose.
        decoys: fewest and most records on the request's topic that do not bear on it.
        changes: chance that a habit nobody asks about changes.
        later: chance that what is asked about comes up again afterwards.
        copies: chance that the target was logged once before, as it is.
    """

    shares: tuple[tuple[Kind, float], ...]
    requests: int
    history: tuple[int, int]
    redundant: float = 0.4
    on_topic: float = 0.5
    decoys: tuple[int, int] = (1, 3)
    changes: float = 0.15
    later: float = 0.4
    copies: float = 0.06


def live(domain: Domain, mix: Mix, rng: Random) -> tuple[Habits, list[Event]]:
    """A person's habits and log, in no particular order."""
    return _Life(domain, mix, rng).live()


class _Life:
    def __init__(self, domain: Domain, mix: Mix, rng: Random) -> None:
        self.domain, self.mix, self.rng = domain, mix, rng
        self.first, self.last = domain.lifetime(rng)
        self.topics = rng.sample(domain.topics, 4)
        self.turns: dict[Facet, tuple[tuple[int, str], ...]] = {}
        self.free = list(domain.options)
        rng.shuffle(self.free)
        self.events: list[Event] = []

    def live(self) -> tuple[Habits, list[Event]]:
        kinds, weights = zip(*self.mix.shares, strict=True)
        plans = [self._plan(kind) for kind in self.rng.choices(kinds, weights, k=self.mix.requests)]
        for facet in self.free:
            self._settle_free(facet)
        for kind, tick, facets in plans:
            self._ask(kind, tick, facets)
        for _ in range(self.rng.randint(*self.mix.history) - len(self.events)):
            self._log(self.first, self.last, self._other())
        return Habits(self.turns), self.events

    def _plan(self, kind: Kind) -> tuple[Kind, int, tuple[Facet, ...]]:
        """Choose when and about which facets is asked, and settle the habits about them."""
        if kind is Kind.SEVERAL and not self.domain.several:
            kind = Kind.ONE
        span = self.last - self.first
        tick = self.first + round(span * self.rng.uniform(0.6, 0.97))
        if kind is Kind.CLEAR:
            return kind, tick, ()
        one = (self.rng.choice(self.domain.dimensions),)
        facets = tuple(map(self._take, self.domain.several if kind is Kind.SEVERAL else one))
        for facet in facets:
            now = self.rng.choice(self.domain.options[facet])
            if kind is Kind.SEVERAL and facet[0] == self.domain.overriding:
                now = ""
            self.turns[facet] = ((_EVER, now),)
            if kind is Kind.CHANGED:
                turn = self.first + round((tick - self.first) * self.rng.uniform(0.45, 0.85))
                turn = min(turn, tick - 1)
                self.turns[facet] = ((_EVER, self._another(facet, now)), (turn, now))
        return kind, tick, facets

    def _take(self, dimension: str) -> Facet:
        facet = next(facet for facet in self.free if facet[0] == dimension)
        self.free.remove(facet)
        return facet

    def _another(self, facet: Facet, habit: str) -> str:
        return self.rng.choice([h for h in self.domain.options[facet] if h != habit])

    def _settle_free(self, facet: Facet) -> None:
        habit = self.rng.choice(self.domain.options[facet])
        if facet[0] == self.domain.overriding and self.rng.random() < 0.4:
            habit = ""
        self.turns[facet] = ((_EVER, habit),)
        if self.rng.random() < self.mix.changes:
            turn = self.rng.randint(self.first + 1, self.last)
            self.turns[facet] += ((turn, self._another(facet, habit)),)

    def _ask(self, kind: Kind, tick: int, facets: tuple[Facet, ...]) -> None:
        """The request's own record and what the kind wants of the history."""
        asked = facets
        if len(facets) == 1 and facets[0][0] == self.domain.overriding and self.rng.random() < 0.6:
            asked += self._companions(facets[0], tick)
        rival = ""
        if facets:
            turns = self.turns[facets[0]]
            rival = turns[0][1] if len(turns) > 1 else self._another(facets[0], turns[0][1])
        topic = self.rng.choice(self.topics)
        own = len(self.events)
        self.events.append(Event(tick, Item(topic, asked, asked=True, rival=rival), kind))
        if self.rng.random() < self.mix.copies:
            before = self.rng.randint(max(self.first, tick - (self.last - self.first) // 10), tick)
            self.events.append(Event(before, self.events[own].item, copy_of=own))
        for facet in facets:
            if self.rng.random() < self.mix.later:
                self._log(tick + 1, self.last, (facet,))
            if kind is not Kind.UNSEEN:
                self._show(facet, tick, topic)
        for _ in range(self.rng.randint(*self.mix.decoys)):
            self._log(self.first, tick - 1, self._other(), topic)

    def _show(self, facet: Facet, asked: int, topic: str) -> None:
        """Records that show the habit; and, if it has changed, some that show what it was."""
        turn = max(self.first, self.turns[facet][-1][0])
        for _ in range(1 + sum(self.rng.random() < self.mix.redundant for _ in range(2))):
            until = asked - 1
            if turn == self.first and self.rng.random() < _LEAN:
                until = self.rng.randint(turn, until)
            self._log(turn, until, (facet,), self._near(topic))
        if turn > self.first:
            for _ in range(self.rng.randint(1, 2)):
                self._log(self.first, turn - 1, (facet,), self._near(topic))

    def _near(self, topic: str) -> str:
        """Half of what bears on a request is on its topic, too; else it would never be found."""
        return topic if self.rng.random() < self.mix.on_topic else ""

    def _other(self) -> tuple[Facet, ...]:
        """Something nobody asks about, or something clear."""
        return () if self.rng.random() < 0.15 else (self.rng.choice(self.free),)

    def _log(self, since: int, until: int, facets: tuple[Facet, ...], topic: str = "") -> None:
        tick = self.rng.randint(since, max(since, until))
        if len(facets) == 1:
            facets += self._companions(facets[0], tick)
        self.events.append(Event(tick, Item(topic or self.rng.choice(self.topics), facets)))

    def _companions(self, facet: Facet, tick: int) -> tuple[Facet, ...]:
        """At times a facet of another dimension, if the given one still shows beside it."""
        others = [f for f in self.free if f[0] != facet[0]]
        if not others:
            return ()
        other = self.rng.choice(others)
        now = Habits(self.turns).at(tick, (facet, other))
        must = facet[0] == self.domain.overriding and not now[facet]
        fits = facet in self.domain.decisive((facet, other), now)
        return (other,) if fits and (must or self.rng.random() < 0.4) else ()
