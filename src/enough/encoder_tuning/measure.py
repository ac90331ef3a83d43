"""What tuning did to the order of records, on users it never saw.

In: likenesses of held-out lessons' records, and what these are worth. Out: the gain of the record
that is most like the request, before and after, beside the best there was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from enough.encoder_tuning.lessons import Lesson
from enough.protocols import Floats

ALL = "all"


@dataclass(frozen=True, slots=True)
class FirstRecord:
    """Means over the held-out requests of a task, gains in nats a token.

    Attributes:
        task: its name, or "all".
        requests: how many.
        gain: of the record most like the request.
        typical: of all records.
        best: of the record with the highest gain, or of none.
        order: rank correlation of likeness with gain within a pool.
    """

    task: str
    requests: int
    gain: float
    typical: float
    best: float
    order: float


def first_records(lessons: Sequence[Lesson], found: Sequence[Floats]) -> list[FirstRecord]:
    """One row per task, and one over all requests."""
    lines: dict[str, list[tuple[float, ...]]] = {}
    for lesson, cosines in zip(lessons, found, strict=True):
        line = (
            float(lesson.gains[cosines.argmax()]),
            float(lesson.gains.mean()),
            max(0.0, float(lesson.gains.max())),
            rank_correlation(cosines, lesson.gains),
        )
        lines.setdefault(lesson.task, []).append(line)
    everything = {**lines, ALL: [line for ones in lines.values() for line in ones]}
    return [
        FirstRecord(task, len(ones), *np.nanmean(np.array(ones), axis=0).tolist())
        for task, ones in everything.items()
    ]


def rank_correlation(first: Floats, second: Floats) -> float:
    """Spearman's, ties by place; 0 for fewer than two."""
    if len(first) < 2:
        return 0.0
    ranks = [np.argsort(np.argsort(one, kind="stable")) for one in (first, second)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
