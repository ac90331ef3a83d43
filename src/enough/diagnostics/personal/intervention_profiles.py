"""What stands in a user's profile under each intervention: pure functions of records and chance.

In: the records of a profile, their matched controls, other actions of the same user. Out: records
in the same places. Nothing here knows a reference or a likelihood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from enough.records import Record

Records = tuple[Record, ...]


def matched_other(controls: Sequence[Records], rng: np.random.Generator) -> Records:
    """One control of every place, drawn at random; none twice where that can be."""
    taken: list[Record] = []
    for found in controls:
        order = [found[i] for i in rng.permutation(len(found))]
        taken.append(_fresh(order, taken, 1)[0])
    return tuple(taken)


def permuted_owners(
    own: Records, controls: Sequence[Records], rng: np.random.Generator
) -> tuple[Records, Records]:
    """A negative control: who is called the owner is left to chance, record by record.

    Of a record and its controls one is drawn and called the user's, another is drawn and called its
    replacement. Both come from the same draw in the same way, so on average nothing can lie between
    the two profiles; a difference would have been made by the comparison itself.
    """
    called_own: list[Record] = []
    called_other: list[Record] = []
    for record, found in zip(own, controls, strict=True):
        together = (record, *found)
        order = [together[i] for i in rng.permutation(len(together))]
        mine, other = _fresh(order, [*called_own, *called_other], 2)
        called_own.append(mine)
        called_other.append(other)
    return tuple(called_own), tuple(called_other)


def shuffled(records: Records, spare: Sequence[str], rng: np.random.Generator) -> Records:
    """The same contexts with each other's actions; see `shuffled_actions`."""
    actions = shuffled_actions([record.action for record in records], spare, rng)
    return tuple(
        replace(record, action=action) for record, action in zip(records, actions, strict=True)
    )


def shuffled_actions(
    actions: Sequence[str], spare: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Actions permuted so that as few as possible stay what they were.

    Equal actions (but for case and blanks) do not count as exchanged. A place whose action cannot
    be exchanged, such as that of a single record, gets one of the spare actions that differs;
    where there is none the action stays.
    """
    of = [_plain(action) for action in actions]
    often = Counter(of)
    rank = {action: int(i) for action, i in zip(often, rng.permutation(len(often)), strict=True)}
    order = sorted(range(len(of)), key=lambda place: rank[of[place]])
    # Equal actions lie together now. A turn by the longest run takes every action out of its own.
    turn = max(often.values(), default=0)
    found = list(actions)
    for i, place in enumerate(order):
        found[place] = actions[order[(i + turn) % len(order)]]
    for place, action in enumerate(found):
        if _plain(action) == of[place]:
            others = [one for one in spare if _plain(one) != of[place]]
            found[place] = others[rng.integers(len(others))] if others else actions[place]
    return found


def unchanged(records: Records, replacements: Records) -> int:
    """How many places hold what they held: the same context and action."""
    return sum(
        (one.context, _plain(one.action)) == (other.context, _plain(other.action))
        for one, other in zip(records, replacements, strict=True)
    )


def _fresh(order: Sequence[Record], taken: Sequence[Record], count: int) -> list[Record]:
    """The first so many, those not yet taken before the others."""
    known = {(record.owner, record.id) for record in taken}
    return sorted(order, key=lambda record: (record.owner, record.id) in known)[:count]


def _plain(action: str) -> str:
    return " ".join(action.casefold().split())
