"""Which samples a step of the optimiser sees, in which passes, at which learning rate.

In: numbers of samples and settings. Out: for every step a function of its number alone, so that a
run may begin at any step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.protocols import ScoredSequence
from enough.tuning.config import TuneConfig

_ORDER = 1  # a stream of random numbers of its own; see `samples`
_STEP = 3


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps of a run.

    Attributes:
        samples: how many there are.
        batch: how many a step takes; the last one of an epoch takes what is left.
        epochs: how often each is seen.
        learning_rate: the highest one.
        warmup: share of the steps in which it rises.
        seed: for the order.
    """

    samples: int
    batch: int
    epochs: int
    learning_rate: float
    warmup: float
    seed: int

    @classmethod
    def of(cls, samples: int, config: TuneConfig) -> Schedule:
        """For so many samples."""
        return cls(
            samples=samples,
            batch=config.batch,
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            warmup=config.warmup,
            seed=config.seed,
        )

    @property
    def steps_per_epoch(self) -> int:
        """Steps in which every sample is seen once."""
        return math.ceil(self.samples / self.batch)

    @property
    def steps(self) -> int:
        """All of them."""
        return self.steps_per_epoch * self.epochs

    def members(self, step: int) -> tuple[int, NDArray[np.int64]]:
        """The epoch of a step, and the places of its samples, [at most batch]."""
        epoch, within = divmod(step, self.steps_per_epoch)
        order = np.random.default_rng((_ORDER, self.seed, epoch)).permutation(self.samples)
        return epoch, order[within * self.batch : (within + 1) * self.batch]

    def rate(self, step: int) -> float:
        """Up in a line, down along a cosine, never 0 within the run."""
        rising = math.ceil(self.warmup * self.steps)
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        done = (step - rising) / (self.steps - rising)
        return self.learning_rate * (1 + math.cos(math.pi * done)) / 2

    def torch_seed(self, step: int) -> int:
        """For whatever is random inside the model (dropout) in this step."""
        state = np.random.SeedSequence((_STEP, self.seed, step)).generate_state(1, np.uint64)
        return int(state[0] >> np.uint64(1))


def passes(
    sequences: Sequence[ScoredSequence], max_tokens: int
) -> Iterator[tuple[ScoredSequence, ...]]:
    """Cut a step into padded batches of at most so many tokens, padding included.

    Shortest first, so that little is padded. A sequence beyond the limit gets a pass of its own.
    """
    ordered = sorted(sequences, key=lambda sequence: len(sequence.tokens))
    start = 0
    for end in range(1, len(ordered) + 1):
        full = end == len(ordered) or len(ordered[end].tokens) * (end + 1 - start) > max_tokens
        if full:
            yield tuple(ordered[start:end])
            start = end
