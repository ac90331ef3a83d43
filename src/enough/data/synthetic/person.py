"""One made-up user, written down: records, requests with references, and the truth beside."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from enough.data.synthetic.domain import Domain, Written
from enough.data.synthetic.life import Event, Mix, live
from enough.data.synthetic.truth import Asked, Habits, Placed, judge
from enough.moment import parse_moment, strictly_before
from enough.records import Example, History, Record, Request

_ATTEMPTS = 20


@dataclass(frozen=True)
class Person:
    """What the world takes from one user; see `Truth` for the last three."""

    user: str
    history: History
    examples: tuple[Example, ...]
    habits: Habits
    asked: dict[str, Asked]
    items: dict[str, Placed]


def make_person(domain: Domain, mix: Mix, seed: str) -> Person:
    """Somebody of this domain; nothing but the seed decides who."""
    rng = Random(seed)
    habits, events = live(domain, mix, rng)
    user = f"u{_opaque(rng)}"
    texts = _texts(domain, habits, events, seed)
    records = [
        _record(domain.date(event.tick), user, texts[_original(events, number)], _opaque(rng))
        for number, event in enumerate(events)
    ]
    order = sorted(range(len(events)), key=lambda number: (events[number].tick, rng.random()))
    examples: list[Example] = []
    asked: dict[str, Asked] = {}
    for number in order:
        event = events[number]
        if event.kind is not None:
            example = _example(domain, records[number], texts[number], f"q{_opaque(rng)}")
            legal = _legal(number, records, events)
            asked[example.request.id] = judge(
                domain, habits, event.kind, (event.tick, event.item), legal
            )
            examples.append(example)
    return Person(
        user=user,
        history=tuple(records[number] for number in order),
        examples=tuple(examples),
        habits=habits,
        asked=asked,
        items={r.id: (e.tick, e.item) for r, e in zip(records, events, strict=True)},
    )


def _texts(domain: Domain, habits: Habits, events: list[Event], seed: str) -> list[Written]:
    """One text per event; nobody says the same twice by accident, which would look like a copy."""
    texts: list[Written] = []
    said: set[str] = set()
    for number, event in enumerate(events):
        now = habits.at(event.tick, event.item.facets)
        for attempt in range(_ATTEMPTS):
            text = domain.write(event.item, now, Random(f"{seed}/{number}/{attempt}"))
            words = text.context if text.action in domain.task.labels else text.action
            if words.casefold() not in said:
                break
        said.add(words.casefold())
        texts.append(text)
    return texts


def _original(events: list[Event], number: int) -> int:
    copied = events[number].copy_of
    return number if copied is None else copied


def _record(date: str, user: str, text: Written, record_id: str) -> Record:
    return Record(
        id=record_id,
        owner=user,
        context=text.context,
        action=text.action,
        date=date,
        moment=parse_moment(date),
    )


def _example(domain: Domain, target: Record, text: Written, request_id: str) -> Example:
    request = Request(
        id=request_id,
        user=target.owner,
        task=domain.task,
        input=text.input,
        date=target.date,
        moment=target.moment,
        source_id=target.id,
    )
    return Example(request, text.reference)


def _legal(number: int, records: list[Record], events: list[Event]) -> dict[str, Placed]:
    """What a request about this record may see: strictly earlier and not the same text."""
    target = records[number].moment
    return {
        record.id: (event.tick, event.item)
        for record, event in zip(records, events, strict=True)
        if record.moment and target and strictly_before(record.moment, target)
        if event.copy_of != number
    }


def _opaque(rng: Random) -> str:
    return f"{rng.getrandbits(48):012x}"
