"""Five nested pools of one request, each with one record more than the one before.

In: what every record of the pool is worth alone, legal records of others, a retriever. Out: the
pools of the paper's candidate-injection test (Table app-robustness):

1. no useful history: records that do not help alone;
2. + useful record: the one that helps most alone;
3. + near duplicate: that one again, a word of it changed;
4. + irrelevant record: of somebody else, far from the request;
5. + action conflict: the useful record's context with another action.

Added records are the user's as far as anybody can see: owner and date are those of the useful one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from enough.protocols import Retriever
from enough.records import Pool, Record, Request
from enough.tasks import Task

STEPS = (
    "No useful history",
    "+ useful record",
    "+ near duplicate",
    "+ irrelevant record",
    "+ action conflict",
)
USEFUL, DUPLICATE, IRRELEVANT, CONFLICT = "useful", "near duplicate", "irrelevant", "conflict"
INJECTED = (USEFUL, DUPLICATE, IRRELEVANT, CONFLICT)
"""What each step after the first adds."""

_FEWEST = 4  # words of a text that can spare one
_FILLERS = (
    "a an the this that very really quite just also so and of to in on at with for it is was were "
    "are has have had i my we our"
)


@dataclass(frozen=True, slots=True)
class Ladder:
    """The records of the pools.

    Attributes:
        base: those of the first pool.
        added: one for each later pool, in the order of INJECTED.
    """

    base: tuple[Record, ...]
    added: tuple[Record, ...]

    @property
    def rungs(self) -> list[tuple[Record, ...]]:
        """Records of every pool, in the order of STEPS."""
        return [(*self.base, *self.added[:count]) for count in range(len(self.added) + 1)]

    def kinds(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Which of the added ones are among these."""
        ids = {record.id for record in records}
        return tuple(k for k, one in zip(INJECTED, self.added, strict=True) if one.id in ids)


def split_by_worth(worth: Sequence[float], base: int) -> tuple[tuple[int, ...], int | None]:
    """Places of the first so many records that do not help alone, and of the one that helps most.

    Args:
        worth: J of every record alone, in pool order.
        base: how many of the former are wanted at most.
    """
    useless = tuple(place for place, value in enumerate(worth) if value <= 0)[:base]
    best = max(range(len(worth)), key=lambda place: worth[place], default=None)
    return useless, best if best is not None and worth[best] > 0 else None


def build_ladder(base: Sequence[Record], useful: Record, irrelevant: Record, action: str) -> Ladder:
    """All records of the five pools.

    Args:
        base: records that do not help.
        useful: one that does.
        irrelevant: somebody else's.
        action: what the conflicting record says instead of the useful one's.
    """
    foreign = replace(
        useful,
        id=f"{useful.id}+{IRRELEVANT}",
        context=irrelevant.context,
        action=irrelevant.action,
        metadata=irrelevant.metadata,
        source_id=None,
    )
    conflicting = replace(useful, id=f"{useful.id}+{CONFLICT}", action=action, source_id=None)
    return Ladder(tuple(base), (useful, near_duplicate(useful), foreign, conflicting))


def near_duplicate(record: Record) -> Record:
    """The record under another id with a word changed: in its context, or else in its action."""
    again = replace(record, id=f"{record.id}+{DUPLICATE}", source_id=None)
    if record.context.strip():
        return replace(again, context=reworded(record.context))
    return replace(again, action=reworded(record.action))


def reworded(text: str) -> str:
    """Without its first word that says nothing; with its last word twice where it has none.

    A text of one word, or without blanks, gets or loses a full stop.
    """
    words, fillers = text.split(" "), _FILLERS.split()
    if len(text.split()) >= _FEWEST:
        for place, word in enumerate(words):
            if word.casefold() in fillers:
                return " ".join(words[:place] + words[place + 1 :])
    if len(text.split()) > 1:
        return f"{text.rstrip()} {text.rsplit(maxsplit=1)[-1]}"
    return text.rstrip()[:-1] if text.rstrip().endswith(".") and text != "." else f"{text}."


def conflicting_action(
    task: Task,
    useful: Record,
    reference: str,
    others: Sequence[Record],
    rng: np.random.Generator,
) -> str | None:
    """Another action than the useful record's; None where there is none to be had.

    Of a closed set it is another label, otherwise what one of the others did. The reference is
    avoided: a record that gives the answer away does not conflict.
    """
    is_closed = useful.action in task.labels
    actions = task.labels if is_closed else tuple(record.action for record in others)
    different = [action for action in actions if _plain(action) != _plain(useful.action)]
    wrong = [action for action in different if _plain(action) != _plain(reference)]
    found = wrong or different
    return found[int(rng.integers(len(found)))] if found else None


def least_similar(
    request: Request, records: Sequence[Record], similarity: Retriever
) -> Record | None:
    """The record that a retriever puts last."""
    ranked = similarity.retrieve(request, tuple(records), len(records))
    return ranked[-1].record if ranked else None


def ranked_pool(request: Request, records: Sequence[Record], retriever: Retriever) -> Pool:
    """All of the records as a pool: scored by the retriever, best first."""
    return retriever.retrieve(request, tuple(records), len(records)) if records else ()


def _plain(action: str) -> str:
    return " ".join(action.casefold().split())
