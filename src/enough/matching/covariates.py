"""What was known before a user acted, as numbers.

In: the records of one task and an encoder. Out: one table with a row per record: who owns it, where
its context lies, how long it is, when it happened, what kind of thing it was. This is the only door
between records and the matcher: the user's action does not go through it, and the table has no
place where it could be kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from enough.moment import Moment, as_years
from enough.protocols import Encoder, Floats
from enough.records import Record
from enough.retrieval.vectors import unit_rows
from enough.tasks import Task

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

NO_LIMIT = np.iinfo(np.int64).max
"""The `start` of a request without a time: everything ends before it."""

_RADICES = (13, 32, 24, 60, 62, 1_000_000)  # above the largest month, day, hour, ...
_ENCODED_TOGETHER = 256  # texts between two reports of progress
_SPREAD_PAIRS = 5_000  # random pairs of contexts; their spread is then known to about 1%


@dataclass(frozen=True, slots=True, eq=False)
class Covariates:
    """Pre-action facts of n records.

    Attributes:
        owner: number of the user whose behaviour it is, [n].
        vectors: embedded pre-action text, length 1, zero where there is none, [n, dim].
        has_content: whether there is a pre-action text that could be embedded, [n].
        log_length: log(1 + letters) of the pre-action text, [n].
        time: years, the middle of what the date can mean; NaN without a date, [n].
        end: the record is strictly earlier than a request whose `start` is not below this, [n].
        metadata: a number per value and field; −1 where a record lacks the field, [n, fields].
        cosine_spread: standard deviation of the cosine of two contexts drawn at random.
    """

    owner: Numbers
    vectors: Floats
    has_content: Flags
    log_length: Values
    time: Values
    end: Numbers
    metadata: Numbers
    cosine_spread: float

    def __len__(self) -> int:
        return len(self.owner)


def pre_action_texts(records: Iterable[Record], task: Task) -> list[str]:
    """What may be compared between users; braces in a user's text are data, not template."""
    return [task.pre_action_text.format(context=record.context).strip() for record in records]


def covariates(
    records: Sequence[Record],
    task: Task,
    encoder: Encoder,
    progress: Callable[[int, int], None] | None = None,
) -> Covariates:
    """The table of all records, in their order; `progress` is told how many are embedded."""
    # A task without contexts may still have words in its template; they say nothing of a record.
    texts = [
        text if record.context.strip() else ""
        for record, text in zip(records, pre_action_texts(records, task), strict=True)
    ]
    vectors = _document_vectors(encoder, texts, progress or (lambda *_: None))
    has_content = np.asarray(vectors.any(axis=1), np.bool_)
    moments = [record.moment for record in records]
    return Covariates(
        owner=codes(record.owner for record in records),
        vectors=vectors,
        has_content=has_content,
        log_length=np.array([math.log1p(len(text)) for text in texts], np.float64),
        time=np.array(
            [math.nan if moment is None else as_years(moment) for moment in moments], np.float64
        ),
        end=np.array([_end(moment) for moment in moments], np.int64),
        metadata=_metadata(records),
        cosine_spread=_cosine_spread(vectors[has_content]),
    )


def unit_vectors(
    encoder: Encoder, texts: Sequence[str], kind: Literal["query", "document"]
) -> Floats:
    """Embedded texts, scaled to length 1; a zero vector stays one."""
    return unit_rows(encoder.encode(texts, kind))


def start_of(moment: Moment | None) -> int:
    """Where a request begins: `strictly_before(a, b)` is `end` of a <= start of b."""
    return NO_LIMIT if moment is None else _place(moment)


def _end(moment: Moment | None) -> int:
    """The start of what follows the last instant the moment can mean."""
    return np.iinfo(np.int64).min if moment is None else _place((*moment[:-1], moment[-1] + 1))


def _place(moment: Moment) -> int:
    """Dates as digits of one number: it orders like the tuples do, absent parts being zero."""
    place = moment[0]
    for radix, part in zip(_RADICES, (*moment[1:], *(0,) * len(_RADICES)), strict=False):
        place = place * radix + part
    return place


def codes(values: Iterable[Hashable]) -> Numbers:
    """Equal values, equal numbers, in order of appearance."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], np.int64)


def _metadata(records: Sequence[Record]) -> Numbers:
    rows = [dict(record.metadata) for record in records]
    fields = sorted({name for row in rows for name in row})
    table = np.full((len(rows), len(fields)), -1, np.int64)
    for column, name in enumerate(fields):
        has = np.array([name in row for row in rows], np.bool_)
        table[has, column] = codes(row[name] for row in rows if name in row)
    return table


def _document_vectors(
    encoder: Encoder, texts: Sequence[str], progress: Callable[[int, int], None]
) -> Floats:
    # Like lengths together: an encoder's batches then hold little padding.
    distinct = sorted({text for text in texts if text}, key=lambda text: (-len(text), text))
    if not distinct:
        return np.zeros((len(texts), 0), np.float32)
    blocks = []
    for first in range(0, len(distinct), _ENCODED_TOGETHER):
        blocks.append(
            unit_vectors(encoder, distinct[first : first + _ENCODED_TOGETHER], "document")
        )
        progress(min(first + _ENCODED_TOGETHER, len(distinct)), len(distinct))
    known = np.concatenate(blocks)
    place = {text: i for i, text in enumerate(distinct)}
    vectors = np.zeros((len(texts), known.shape[1]), np.float32)
    filled = [i for i, text in enumerate(texts) if text]
    vectors[filled] = known[[place[texts[i]] for i in filled]]
    return vectors


def _cosine_spread(vectors: Floats) -> float:
    if len(vectors) < 2:
        return 1.0
    pairs = np.random.default_rng(0).integers(len(vectors), size=(2, _SPREAD_PAIRS))
    pairs = pairs[:, pairs[0] != pairs[1]]
    return float((vectors[pairs[0]] * vectors[pairs[1]]).sum(axis=1).std()) or 1.0
