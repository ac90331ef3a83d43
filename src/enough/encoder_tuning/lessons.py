"""What every record of a pool is worth alone: the only thing an encoder is taught.

In: requests with their pools, and the frozen generator. Out: `Lesson`s: texts as the controller
reads them, and the gain g(r) = log p(y | {r}) − log p(y | ∅) of each record; on demand in units of
the task's typical gain (root mean square). Prompts of a request share all but one record, so a
lesson costs a few hundred tokens a record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from enough.progress import OnStep, silent
from enough.prompts.prompter import Prompter
from enough.prompts.serialise import record_text
from enough.protocols import Floats, Generator, ScoredSequence
from enough.retrieval.pools import PooledExample
from enough.tuning.stepping import made_ahead

_TOGETHER = 64  # requests scored in one call


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """One request.

    Attributes:
        task: name of its task.
        user: whose it is.
        query: what is searched by.
        records: texts of the pool's records that fit the window.
        gains: of each alone, [len(records)].
    """

    task: str
    user: str
    query: str
    records: tuple[str, ...]
    gains: Floats


def rate(
    name: str, pools: Sequence[PooledExample], generator: Generator, on_step: OnStep = silent
) -> list[Lesson]:
    """Lessons of one task; requests with no record that fits teach nothing and are left out."""
    prompter = Prompter(generator.tokenizer)
    found: list[Lesson] = []

    def tokenised(start: int) -> list[tuple[list[int], list[ScoredSequence]]]:
        together = pools[start : start + _TOGETHER]
        return [_sequences(one, prompter, generator.window) for one in together]

    starts = range(0, len(pools), _TOGETHER)
    for start, some in zip(starts, made_ahead(tokenised, starts), strict=True):
        scores = generator.score([sequence for _, ones in some for sequence in ones])
        ends = np.cumsum([len(ones) for _, ones in some])
        for pooled, (kept, _), values in zip(
            pools[start:], some, np.split(scores, ends[:-1]), strict=False
        ):
            if kept:
                request = pooled.example.request
                texts = tuple(record_text(pooled.pool[place].record) for place in kept)
                gains = np.asarray(values[1:] - values[0], np.float32)
                found.append(Lesson(request.task.name, request.user, request.query, texts, gains))
        on_step(f"{name}: records alone", min(start + _TOGETHER, len(pools)), len(pools))
    return found


def typical_gains(lessons: Sequence[Lesson]) -> dict[str, float]:
    """Root mean square of the gains of every task; 1 where all are zero."""
    gains: dict[str, list[NDArray[np.float32]]] = defaultdict(list)
    for lesson in lessons:
        gains[lesson.task].append(lesson.gains)
    sizes = {task: np.sqrt(np.mean(np.concatenate(ones) ** 2)) for task, ones in gains.items()}
    return {task: float(size) or 1.0 for task, size in sizes.items()}


def by_user(lessons: Sequence[Lesson]) -> list[list[Lesson]]:
    """Lessons of each user, who has many records in more than one pool."""
    found: dict[tuple[str, str], list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        found[lesson.task, lesson.user].append(lesson)
    return list(found.values())


def in_units(lessons: Sequence[Lesson], units: dict[str, float]) -> list[Lesson]:
    """Gains over their task's unit."""
    return [replace(one, gains=one.gains / np.float32(units[one.task])) for one in lessons]


def _sequences(
    pooled: PooledExample, prompter: Prompter, window: int
) -> tuple[list[int], list[ScoredSequence]]:
    """Places of the records that fit; the empty profile, then each of them alone."""
    example = pooled.example
    sequences = [prompter.sequence(example)]
    places = []
    for place, candidate in enumerate(pooled.pool):
        alone = prompter.sequence(example, [candidate.record])
        if len(alone.tokens) <= window:
            places.append(place)
            sequences.append(alone)
    if len(sequences[0].tokens) > window:
        return [], []
    return places, sequences
