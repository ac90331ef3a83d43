"""One request made ready for the search: what it may choose, in which orders, and its controls.

Cases are plain values: they are prepared where the encoder is and sent to where the generator is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from enough.prompts.profile_sequences import Profile
from enough.protocols import Encoder, Floats
from enough.records import Dataset, Example, Pool, Record
from enough.retrieval.diversity import marginal_relevance
from enough.retrieval.pools import PooledExample
from enough.retrieval.ranking import retrieval_texts
from enough.retrieval.recency import RecencyRetriever
from enough.retrieval.vectors import unit_rows

_RELEVANCE_WEIGHT = 0.7


@dataclass(frozen=True, eq=False)
class Case:
    """A request and everything its search needs beside the generator.

    Attributes:
        example: the request and its reference.
        pool: C_i, best first.
        controls: for every place of the pool its K⁻ matched records of other users, or none.
        recency: places of the pool, newest first.
        diversity: places of the pool in the order of maximal marginal relevance.
        likeness: cosines between pool records, [n, n].
        visited: further roots, such as states that a policy came through.
        visited_levels: how many levels are searched below these; 0: to the horizon.
        visited_actions: how many actions are tried at these; 0: all.
    """

    example: Example
    pool: Pool
    controls: tuple[tuple[Record, ...], ...]
    recency: Profile
    diversity: Profile
    likeness: Floats
    visited: tuple[Profile, ...] = ()
    visited_levels: int = 0
    visited_actions: int = 0

    @property
    def name(self) -> str:
        """Names the request among all tasks."""
        return f"{self.example.request.task.name}/{self.example.request.id}"

    @property
    def numbered_records(self) -> list[Record]:
        """Records by the number that stands for them in a profile: the pool, then all controls."""
        controls = [record for found in self.controls for record in found]
        return [candidate.record for candidate in self.pool] + controls

    @cached_property
    def control_numbers(self) -> list[range]:
        """For every place of the pool the numbers of its controls."""
        ends = np.cumsum([len(self.pool), *map(len, self.controls)]).tolist()
        return [range(start, end) for start, end in pairwise(ends)]


def prepare_cases(
    dataset: Dataset,
    pooled: Sequence[PooledExample],
    controls: Sequence[tuple[tuple[Record, ...], ...]],
    encoder: Encoder,
) -> Iterator[Case]:
    """Cases of pooled examples whose controls are known."""
    for one, found in zip(pooled, controls, strict=True):
        request, records = one.example.request, tuple(c.record for c in one.pool)
        place = {record.id: i for i, record in enumerate(records)}
        history = tuple(r for r in dataset.history(request) if r.id in place)
        newest = RecencyRetriever().retrieve(request, history, len(records))
        vectors = encoder.encode(retrieval_texts(request.task, records), "document")  # [n, dim]
        query = encoder.encode([request.query], "query")[0]  # [dim]
        order, _ = marginal_relevance(query, vectors, _RELEVANCE_WEIGHT, len(records))
        unit = unit_rows(vectors)
        yield Case(
            example=one.example,
            pool=one.pool,
            controls=found,
            recency=tuple(place[c.record.id] for c in newest),
            diversity=tuple(order),
            likeness=np.asarray(unit @ unit.T, np.float32),
        )
