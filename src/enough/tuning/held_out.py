"""What tuning did, on users it never saw: does the personal part stay, does the generic one go?

In: requests of held-out users with their pools. Out: the mean negative log-likelihood of a
reference token with no record, with the user's own first records, and with as many of other users.
A gain that other people's records bring, too, is not personal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from enough.generators.hf import HFGenerator
from enough.prompts.prompter import Prompter
from enough.protocols import ScoredSequence
from enough.records import Record
from enough.retrieval.pools import PooledExample
from enough.tuning.config import TuneConfig
from enough.tuning.fit import half_precision
from enough.tuning.samples import fitting

_STRANGERS = 2  # a stream of random numbers of its own; see `samples`
ALL = "all"


@dataclass(frozen=True, slots=True, eq=False)
class Trio:
    """A request to measure.

    Attributes:
        task: the name it is reported under.
        sequences: without records, with own ones, with as many of others.
    """

    task: str
    sequences: tuple[ScoredSequence, ScoredSequence, ScoredSequence]


@dataclass(frozen=True, slots=True)
class Measured:
    """Mean negative log-likelihoods of a reference token, over the requests of a task.

    Attributes:
        task: its name, or "all".
        requests: how many.
        empty: without a profile.
        own: with the first records of the user's pool.
        others: with as many records of other users of the task.
    """

    task: str
    requests: int
    empty: float
    own: float
    others: float


def held_out_trios(
    name: str,
    pools: Sequence[PooledExample],
    prompter: Prompter,
    config: TuneConfig,
    max_tokens: int,
) -> list[Trio]:
    """At most `config.measured` requests of one task; those that fit and have any record."""
    rng = np.random.default_rng((_STRANGERS, config.seed))
    usable = [
        pooled
        for pooled in pools
        if pooled.pool and len(prompter.sequence(pooled.example).tokens) <= max_tokens
    ]
    if len(usable) > config.measured:
        places = sorted(rng.choice(len(usable), config.measured, replace=False))
        usable = [usable[place] for place in places]
    trios = []
    for pooled in usable:
        example = pooled.example
        first = [candidate.record for candidate in pooled.pool[: config.max_records]]
        own = fitting(prompter, example, first, max_tokens)
        strangers = _strangers(pools, example.request.user, len(own), rng)
        others = fitting(prompter, example, strangers, max_tokens)
        trios.append(
            Trio(
                name,
                (
                    prompter.sequence(example),
                    prompter.sequence(example, own),
                    prompter.sequence(example, others),
                ),
            )
        )
    return trios


def measure(generator: HFGenerator, trios: Sequence[Trio]) -> list[Measured]:
    """One row per task, and one over all requests."""
    with half_precision(generator.lm):
        scores = generator.score([sequence for trio in trios for sequence in trio.sequences])
    losses = -scores.reshape(len(trios), 3)
    rows = []
    for task, places in groupby(range(len(trios)), key=lambda place: trios[place].task):
        chosen = losses[list(places)]
        rows.append(Measured(task, len(chosen), *map(float, chosen.mean(0))))
    return [*rows, Measured(ALL, len(losses), *map(float, losses.mean(0)))]


def as_rows(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """For a JSON file."""
    return [dataclasses.asdict(row) for row in measured]


def _strangers(
    pools: Sequence[PooledExample], user: str, count: int, rng: np.random.Generator
) -> list[Record]:
    """Records of other held-out users of the task, each at most once."""
    found = {
        (candidate.record.owner, candidate.record.id): candidate.record
        for pooled in pools
        if pooled.example.request.user != user
        for candidate in pooled.pool
    }
    records = list(found.values())
    return [records[place] for place in rng.permutation(len(records))[:count]]
