"""What is known of a record whatever is asked: made once, then only looked up.

In: records and a frozen encoder. Out: a `Portrait` of each: directions, words and lengths. Whoever
asks about the same records again hands in what is known already; where that is kept, and for how
long, is theirs to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.wording import stems
from enough.moment import as_years
from enough.prompts.serialise import record_text
from enough.protocols import Encoder, Floats
from enough.records import Record
from enough.retrieval.vectors import unit_rows


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """Of one record.

    Attributes:
        vector: direction of the record with its action and metadata, [dim].
        action_vector: direction of the action alone, [dim].
        words: `wording.stems` of the record's text.
        action_key: equal for equal actions, whatever their case.
        context_length: log of its letters, scaled.
        action_length: the same of the action.
        years: when it was; None where that is unknown.
    """

    vector: Floats
    action_vector: Floats
    words: NDArray[np.int64]
    action_key: str
    context_length: float
    action_length: float
    years: float | None

    @property
    def size(self) -> int:
        """Bytes of its arrays."""
        return self.vector.nbytes + self.action_vector.nbytes + self.words.nbytes


Known = dict[Record, Portrait]
"""Portraits that were made before."""


def portray(records: Sequence[Record], encoder: Encoder, known: Known) -> list[Portrait]:
    """One for every record, in their order; new ones are added to what is known."""
    missing = list(dict.fromkeys(record for record in records if record not in known))
    if missing:
        texts = [record_text(record) for record in missing]
        vectors = encoder.encode(texts + [record.action for record in missing], "document")
        known.update(zip(missing, portraits_of(missing, texts, unit_rows(vectors)), strict=True))
    return [known[record] for record in records]


def portraits_of(
    records: Sequence[Record], texts: Sequence[str], vectors: Floats
) -> Iterable[Portrait]:
    """Portraits from unit vectors [2n, dim]: of all records, then of all actions."""
    for record, text, vector, action in zip(
        records, texts, vectors[: len(records)], vectors[len(records) :], strict=True
    ):
        yield Portrait(
            # Copies: a row of many would keep all of them in memory.
            vector.copy(),
            action.copy(),
            stems(text),
            record.action.casefold(),
            _length(record.context),
            _length(record.action),
            None if record.moment is None else as_years(record.moment),
        )


def _length(text: str) -> float:
    return math.log1p(len(text)) / 8
