"""A generator that never writes the same answer twice, across runs and processes.

In: any open generator and a cache file. Out: one with the same answers that also knows how long
each took when it was computed (`metering.Clocked`). Keys are the fingerprint and everything asked.
Answers are stored as soon as they are there, each whole or not at all. Seconds are those of the
machine that computed: where they are compared, all of them should come from one.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from enough.disk_cache import DiskCache, cache_key, cache_root
from enough.protocols import Generator, OnBatch, OpenGenerator, ScoredSequence, Steered, Tokens

T = TypeVar("T")

_SECONDS = struct.Struct("<d")  # in front of every value
_TOGETHER = 64  # computed between two writes at least; few to lose to a kill
_TOKENS_EACH = 256  # of a prompt, about: with it full batches are computed between two writes


class RememberingGenerator:
    """Implements `protocols.OpenGenerator` and `metering.Clocked` around another generator.

    A remembered steered answer asks nothing of its steering: `next` is not called.

    Attributes:
        seconds: what everything asked so far took when it was computed; equal prompts of one call
            are computed once. Scores take as long as they take now.
        hits, misses: answers and readings that were there, and that were not.
    """

    def __init__(
        self, generator: OpenGenerator, path: Path | None = None, scorer: Generator | None = None
    ) -> None:
        """Wrap a generator.

        Args:
            generator: answers what is not remembered.
            path: of the cache file.
            scorer: scores in its stead, such as a `CachedGenerator` around it.
        """
        self.inner = generator
        self.tokenizer = generator.tokenizer
        self.fingerprint = generator.fingerprint
        self.window = generator.window
        self.batch_tokens = generator.batch_tokens
        self.seconds = 0.0
        self.hits = 0
        self.misses = 0
        self._scorer = scorer or generator
        self._cache = DiskCache(path or cache_root() / "answers.sqlite")

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Passed on: scores are not remembered here."""
        scores, seconds = _timed(partial(self._scorer.score, sequences, on_batch))
        self.seconds += seconds
        return scores

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """Passed on: what is wanted is a second computation."""
        scores, seconds = _timed(partial(self._scorer.rescore, sequences))
        self.seconds += seconds
        return scores

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """Look up what is known, compute and store the rest; equal prompts are computed once."""
        keys = [self._key("generate", max_new_tokens, [prompt]) for prompt in prompts]
        wanted = dict(zip(keys, prompts, strict=True))
        texts = self._texts(wanted, len, lambda some: self.inner.generate(some, max_new_tokens))
        return [texts[key] for key in keys]

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        """Look up what is known, compute and store the rest."""
        keys = [
            self._key("steer", max_new_tokens, answer.prompts, answer.steering.key)
            for answer in answers
        ]
        wanted = dict(zip(keys, answers, strict=True))
        texts = self._texts(wanted, _longest, lambda some: self.inner.steer(some, max_new_tokens))
        return [texts[key] for key in keys]

    def attention(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        """Look them all up together, or compute and store them."""
        key = self._key("attention", 0, [prefix, *suffixes])
        raw = self._remembered(
            key,
            lambda: b"".join(
                row.astype("<f8").tobytes() for row in self.inner.attention(prefix, suffixes)
            ),
        )
        rows = np.frombuffer(raw, "<f8").astype(np.float64)
        return list(rows.reshape(len(suffixes), len(prefix)))

    def _texts(
        self,
        wanted: Mapping[bytes, T],
        length: Callable[[T], int],
        write: Callable[[list[T]], list[str]],
    ) -> dict[bytes, str]:
        """What was asked for under each key; what is missing is written with its equals in length.

        The seconds of a call are split evenly over its answers.
        """
        values = self._cache.get_many(wanted)
        self.hits += len(values)
        missing = sorted(wanted.keys() - values.keys(), key=lambda key: (length(wanted[key]), key))
        size = max(_TOGETHER, self.batch_tokens // _TOKENS_EACH)
        for start in range(0, len(missing), size):
            part = missing[start : start + size]
            texts, seconds = _timed(partial(write, [wanted[key] for key in part]))
            share = _SECONDS.pack(seconds / len(part))
            fresh = {k: share + text.encode() for k, text in zip(part, texts, strict=True)}
            self._cache.put_many(fresh)
            self.misses += len(fresh)
            values |= fresh
        self.seconds += sum(_SECONDS.unpack_from(value)[0] for value in values.values())
        return {key: value[_SECONDS.size :].decode() for key, value in values.items()}

    def _remembered(self, key: bytes, compute: Callable[[], bytes]) -> bytes:
        value = self._cache.get_many([key]).get(key)
        if value is None:
            content, seconds = _timed(compute)
            value = _SECONDS.pack(seconds) + content
            self._cache.put_many({key: value})
            self.misses += 1
        else:
            self.hits += 1
        self.seconds += _SECONDS.unpack_from(value)[0]
        return value[_SECONDS.size :]

    def _key(self, what: str, length: int, texts: Sequence[Tokens], rule: str = "") -> bytes:
        tokens = (text.astype("<i4").tobytes() for text in texts)
        return cache_key(self.fingerprint, what, rule, length.to_bytes(4, "little"), *tokens)


def _longest(answer: Steered) -> int:
    return max(map(len, answer.prompts))


def _timed(compute: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    result = compute()
    return result, time.perf_counter() - started
