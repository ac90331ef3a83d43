"""A generator that never scores the same sequence twice, across runs and processes.

In: any generator and a cache file. Out: a generator with the same values. Keys are the generator's
fingerprint and the sequence's tokens, so a different model, adapter, precision or tokenizer never
finds another's scores. Every finished batch is stored before the next begins.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enough.disk_cache import DiskCache, cache_key, cache_root
from enough.protocols import Generator, OnBatch, ScoredSequence, Tokens

_VALUE = struct.Struct("<d")


class CachedGenerator:
    """Implements `protocols.Generator` around another one."""

    def __init__(self, generator: Generator, path: Path | None = None) -> None:
        self.inner = generator
        self.tokenizer = generator.tokenizer
        self.fingerprint = generator.fingerprint
        self.window = generator.window
        self.batch_tokens = generator.batch_tokens
        self.hits = 0
        self.misses = 0
        self._cache = DiskCache(path or cache_root() / "scores.sqlite")

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Look up what is known, compute and store the rest; equal sequences are computed once."""
        keys = [self._key(sequence) for sequence in sequences]
        places: dict[bytes, list[int]] = {}
        for place, key in enumerate(keys):
            places.setdefault(key, []).append(place)
        known = self._cache.get_many(places)
        scores = np.full(len(sequences), np.nan)

        def fill(found: list[bytes], values: NDArray[np.float64]) -> None:
            where = [place for key in found for place in places[key]]
            scores[where] = np.repeat(values, [len(places[key]) for key in found])
            if on_batch is not None and where:
                on_batch(np.array(where), scores[where])

        fill(list(known), np.array([_VALUE.unpack(value)[0] for value in known.values()]))
        missing = [key for key in places if key not in known]
        self.hits += len(known)
        self.misses += len(missing)

        def store(members: NDArray[np.int64], values: NDArray[np.float64]) -> None:
            found = [missing[i] for i in members]
            self._cache.put_many(
                {key: _VALUE.pack(value) for key, value in zip(found, values, strict=True)}
            )
            fill(found, values)

        if missing:
            self.inner.score([sequences[places[key][0]] for key in missing], store)
        return scores

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """Passed on: what is wanted is a second computation."""
        return self.inner.rescore(sequences)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """Passed on: answers are not cached here."""
        return self.inner.generate(prompts, max_new_tokens)

    def _key(self, sequence: ScoredSequence) -> bytes:
        length = sequence.reference_length.to_bytes(4, "little")
        return cache_key(self.fingerprint, length, sequence.tokens.astype("<i4").tobytes())
