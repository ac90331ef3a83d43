"""When two texts, or two interactions, are the same but for their surface.

In: a record or a text, and its task. Out: the parts by which it can be compared: folded texts
that are long enough to identify an interaction on their own, the folded interaction as a whole,
and the text that is embedded.

Three things must never make two interactions the same: a label of a closed set (half of a user's
reviews have the score 5), a short text ("Thank you!"), and an empty one.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from functools import cache

from enough.records import Record
from enough.tasks import Task

IDENTIFYING_LENGTH = 20
"""Letters from which on a text is taken to identify an interaction."""


class _Folding(dict[int, str]):
    """What becomes of a character: punctuation and spaces are one space, invisible marks go."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        kept = "" if category == "Cf" else " " if category[0] in "PZC" else chr(code)
        self[code] = kept
        return kept


_FOLDING = _Folding()


def folded(text: str) -> str:
    """The text without differences of case, width, punctuation and spacing."""
    if text.isascii():
        plain = text.lower()  # the same, and most text is
    else:
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(plain.translate(_FOLDING).split())


@dataclass(frozen=True, slots=True)
class Likeness:
    """What can make an interaction the same as another.

    Attributes:
        texts: folded texts each of which identifies the interaction.
        wholes: folded (context, action) pairs; equal ones are the same interaction however short.
        embedded: texts to compare by embedding.
    """

    texts: frozenset[str] = frozenset()
    wholes: frozenset[tuple[str, str]] = frozenset()
    embedded: tuple[str, ...] = ()

    def __or__(self, other: Likeness) -> Likeness:
        return Likeness(
            self.texts | other.texts, self.wholes | other.wholes, self.embedded + other.embedded
        )

    def sameness(self, other: Likeness) -> str | None:
        """What makes the two the same interaction, or None."""
        if not self.wholes.isdisjoint(other.wholes):
            return "the same context and action"
        return None if self.texts.isdisjoint(other.texts) else "the same text"


def likeness_of_record(record: Record, task: Task) -> Likeness:
    """How a record can be recognised."""
    context, action = folded(record.context), folded(record.action)
    is_label = action in _folded_labels(task)
    if not context and (is_label or not action):
        return Likeness()
    retrieval = task.retrieval_text.format(context=record.context, action=record.action)
    plain = context if retrieval == record.context else folded(retrieval)
    candidates = (context, "" if is_label else action, plain)
    return Likeness(
        texts=frozenset(text for text in candidates if _identifies(text)),
        wholes=frozenset({(context, action)}),
        embedded=(retrieval.strip(),) if _identifies(plain) else (),
    )


def likeness_of_query(query: str, task: Task) -> Likeness:
    """How the target interaction can be recognised by what is searched with."""
    plain = folded(query)
    if not plain or plain in _folded_labels(task):
        return Likeness()
    identifies = _identifies(plain)
    return Likeness(
        texts=frozenset({plain} if identifies else ()),
        # The whole of a record without a context is its action, and the query may be that.
        wholes=frozenset({("", plain)}),
        embedded=(query.strip(),) if identifies else (),
    )


def likeness_of_answer(answer: str, task: Task) -> Likeness:
    """How the target interaction can be recognised by its answer."""
    alone = likeness_of_query(answer, task)
    # With a context, an answer is half of an interaction: somebody's weekly column has nearly the
    # same headline every week and is not the same column.
    return replace(alone, embedded=()) if task.context_field else alone


@cache
def _folded_labels(task: Task) -> frozenset[str]:
    return frozenset(folded(label) for label in task.labels)


def _identifies(folded_text: str) -> bool:
    return len(folded_text) - folded_text.count(" ") >= IDENTIFYING_LENGTH
