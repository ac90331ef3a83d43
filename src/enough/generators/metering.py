"""What a method asks of its generators, counted where it is asked.

In: a generator and a `Meter`. Out: a generator that does the same and counts: calls, prompt tokens,
seconds. Several generators may share a meter. What was used between two readings is their
difference, so no method declares its own cost. A remembered answer counts as the call it once was.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from enough.protocols import OnBatch, OpenGenerator, ScoredSequence, Steered, Tokens


@runtime_checkable
class Clocked(Protocol):
    """A generator that knows how long its work took, even where it now only remembers it."""

    @property
    def seconds(self) -> float:
        """Of everything asked of it so far, as it took when it was computed."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What was used.

    Attributes:
        calls: generator-equivalent calls: one for every prompt answered or continued, for every
            suffix whose attention is read, and for every sequence scored.
        prompt_tokens: in front of answers and references; a prefix that is shared counts once.
        seconds: of computing, whenever that was.
        waited: seconds that passed just now; less, where answers are remembered.
    """

    calls: int = 0
    prompt_tokens: int = 0
    seconds: float = 0.0
    waited: float = 0.0

    def __add__(self, other: Reading) -> Reading:
        return Reading(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.seconds + other.seconds,
            self.waited + other.waited,
        )

    def __sub__(self, earlier: Reading) -> Reading:
        return Reading(
            self.calls - earlier.calls,
            self.prompt_tokens - earlier.prompt_tokens,
            self.seconds - earlier.seconds,
            self.waited - earlier.waited,
        )


class Meter:
    """Counts up. Generators of several threads may share it."""

    def __init__(self) -> None:
        self._reading = Reading()
        self._lock = threading.Lock()

    def add(self, used: Reading) -> None:
        """Count something that was used."""
        with self._lock:
            self._reading += used

    def reading(self) -> Reading:
        """Everything so far."""
        return self._reading


class MeteredGenerator:
    """Implements `protocols.OpenGenerator` around another one."""

    def __init__(self, generator: OpenGenerator, meter: Meter) -> None:
        self.inner = generator
        self.meter = meter
        self.tokenizer = generator.tokenizer
        self.fingerprint = generator.fingerprint
        self.window = generator.window
        self.batch_tokens = generator.batch_tokens
        self._now = _clock(generator)

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """One call for every sequence."""
        with self._counted(len(sequences), _prompt_tokens(sequences)):
            return self.inner.score(sequences, on_batch)

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """One call for every sequence."""
        with self._counted(len(sequences), _prompt_tokens(sequences)):
            return self.inner.rescore(sequences)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """One call for every prompt."""
        with self._counted(len(prompts), sum(map(len, prompts))):
            return self.inner.generate(prompts, max_new_tokens)

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        """One call for every prompt: each is continued by a whole answer."""
        prompts = [prompt for answer in answers for prompt in answer.prompts]
        with self._counted(len(prompts), sum(map(len, prompts))):
            return self.inner.steer(answers, max_new_tokens)

    def attention(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        """One call for every suffix."""
        tokens = len(prefix) + sum(map(len, suffixes)) if suffixes else 0
        with self._counted(len(suffixes), tokens):
            return self.inner.attention(prefix, suffixes)

    @contextmanager
    def _counted(self, calls: int, prompt_tokens: int) -> Iterator[None]:
        started, entered = self._now(), time.perf_counter()
        yield
        waited = time.perf_counter() - entered
        self.meter.add(Reading(calls, prompt_tokens, self._now() - started, waited))


def _clock(generator: OpenGenerator) -> Callable[[], float]:
    if isinstance(generator, Clocked):
        clocked: Clocked = generator
        return lambda: clocked.seconds
    return time.perf_counter


def _prompt_tokens(sequences: Sequence[ScoredSequence]) -> int:
    return sum(len(sequence.tokens) - sequence.reference_length for sequence in sequences)
