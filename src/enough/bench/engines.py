"""Whether a server or another engine scores as the same weights do here, and how fast.

In: a generator that runs elsewhere, the same model in this process, sequences of search trees. Out:
`EngineBench`: how far the likelihoods are apart, how far the engine is from itself when it computes
them in another way, and profiles per second of both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from enough.generators.config import GeneratorConfig
from enough.generators.token_trie import distinct_tokens, input_tokens
from enough.protocols import Generator, ScoredSequence

_RESCORED = 8


@dataclass(frozen=True, slots=True)
class EngineBenchConfig:
    """A file with a [generator] table."""

    generator: GeneratorConfig = field(default_factory=GeneratorConfig)


@dataclass(frozen=True, slots=True)
class EngineBench:
    """What one run measured. Rates are per second of wall time.

    Attributes:
        max_abs_diff, mean_abs_diff: of the likelihoods there and here.
        own_noise: largest difference of the engine's `score` and `rescore`, on some of them.
        same_best: share of references for which the same profile is the best in both.
        ratio: the engine's rate over the one here.
    """

    fingerprint: str
    profiles: int
    tokens: int
    distinct_tokens: int
    max_abs_diff: float
    mean_abs_diff: float
    own_noise: float
    same_best: float
    profiles_per_s: float
    here_profiles_per_s: float
    ratio: float


def drawn(sequences: Sequence[ScoredSequence], count: int, seed: int) -> list[ScoredSequence]:
    """Some of them, at random, in their order."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.permutation(len(sequences))[:count])
    return [sequences[i] for i in places]


def run_engine_bench(
    engine: Generator, here: Generator, sequences: Sequence[ScoredSequence]
) -> EngineBench:
    """Score all of them with both."""
    found, seconds = _timed(lambda: engine.score(sequences))
    expected, seconds_here = _timed(lambda: here.score(sequences))
    again = engine.rescore(sequences[:_RESCORED])
    apart = np.abs(found - expected)
    return EngineBench(
        fingerprint=engine.fingerprint,
        profiles=len(sequences),
        tokens=sum(len(input_tokens(sequence)) for sequence in sequences),
        distinct_tokens=distinct_tokens(sequences),
        max_abs_diff=float(apart.max()),
        mean_abs_diff=float(apart.mean()),
        own_noise=float(np.abs(again - found[:_RESCORED]).max()),
        same_best=_same_best(sequences, found, expected),
        profiles_per_s=len(sequences) / seconds,
        here_profiles_per_s=len(sequences) / seconds_here,
        ratio=seconds_here / seconds,
    )


def _same_best(
    sequences: Sequence[ScoredSequence], left: NDArray[np.float64], right: NDArray[np.float64]
) -> float:
    groups: dict[bytes, list[int]] = {}
    for place, sequence in enumerate(sequences):
        reference = sequence.tokens[-sequence.reference_length :]
        groups.setdefault(reference.tobytes(), []).append(place)
    same = [left[some].argmax() == right[some].argmax() for some in groups.values()]
    return float(np.mean(same))


def _timed(
    compute: Callable[[], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], float]:
    started = time.perf_counter()
    found = compute()
    return found, time.perf_counter() - started
