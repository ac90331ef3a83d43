"""What the adapter is fitted on: prompts with profiles drawn anew in every epoch.

In: requests with their pools. Out: token sequences, each a prompt exactly as `Prompter` writes it,
the reference and the end of the turn. Every draw is a function of seed, epoch and request, so a run
that goes on after a kill draws the same.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import numpy as np

from enough.prompts.prompter import Prompter
from enough.protocols import ScoredSequence
from enough.records import Example, Pool, Record
from enough.retrieval.pools import PooledExample

log = logging.getLogger(__name__)
_PROFILES = 0  # names a stream of random numbers; others are in `schedule` and `held_out`


def draw_profile(pool: Pool, max_records: int, rng: np.random.Generator) -> tuple[Record, ...]:
    """Records of one pool: 0 to `max_records` of them, all numbers equally often.

    Half of the time they are the retriever's first ones; the other half any, in any order, so that
    the model meets records that are of no use and learns to pass them over.
    """
    count = int(rng.integers(0, max_records + 1))
    by_retriever = rng.random() < 0.5
    places = np.arange(len(pool)) if by_retriever else rng.permutation(len(pool))
    return tuple(pool[place].record for place in places[:count])


def fitting(
    prompter: Prompter, example: Example, records: Iterable[Record], limit: int
) -> tuple[Record, ...]:
    """The records that fit into so many tokens with prompt and reference; none is cut.

    One that does not fit is passed over, and those after it may still come in.
    """
    task = example.request.task
    room = limit - len(prompter.sequence(example).tokens)
    chosen = []
    for record in records:
        tokens = prompter.record_tokens(task, record)
        if tokens <= room:
            chosen.append(record)
            room -= tokens
    return tuple(chosen)


class Samples:
    """Sequences of requests, with a new profile of each in every epoch."""

    def __init__(
        self,
        pools: Sequence[PooledExample],
        prompter: Prompter,
        end_of_turn: int,
        *,
        max_records: int,
        max_tokens: int,
        seed: int,
    ) -> None:
        self._prompter = prompter
        self._end = np.array([end_of_turn], np.int32)
        self._max_records = max_records
        self._limit = max_tokens - len(self._end)
        self._seed = seed
        self.pools = tuple(pooled for pooled in pools if self._fits(pooled.example))
        self.left_out = len(pools) - len(self.pools)

    def __len__(self) -> int:
        return len(self.pools)

    def profile(self, place: int, epoch: int) -> tuple[Record, ...]:
        """The records of one request in one epoch."""
        pooled = self.pools[place]
        rng = np.random.default_rng((_PROFILES, self._seed, epoch, place))
        drawn = draw_profile(pooled.pool, self._max_records, rng)
        return fitting(self._prompter, pooled.example, drawn, self._limit)

    def sequence(self, place: int, epoch: int) -> ScoredSequence:
        """Prompt, reference and end of turn; the latter two are what is learnt."""
        example = self.pools[place].example
        plain = self._prompter.sequence(example, self.profile(place, epoch))
        tokens = np.concatenate([plain.tokens, self._end])
        return ScoredSequence(tokens, plain.reference_length + 1)

    def _fits(self, example: Example) -> bool:
        length = len(self._prompter.sequence(example).tokens)
        if length <= self._limit:
            return True
        log.warning(
            "left out: request %r takes %d tokens without any record; max_tokens leaves %d",
            example.request.id,
            length,
            self._limit,
        )
        return False
