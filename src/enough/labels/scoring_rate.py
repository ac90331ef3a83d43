"""How fast a generator scores sequences like those of a run, on just enough of them to fill it."""

from __future__ import annotations

import time

from enough.generators.token_trie import distinct_tokens
from enough.protocols import Generator, ScoredSequence

_BATCHES = 4  # of the generator's own size: enough to fill it, few enough to wait for
_AT_A_TIME = 32  # sequences between two looks at how many tokens there are


class ScoringRate:
    """Takes sequences until there are enough, then times scoring them."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._sequences: list[ScoredSequence] = []
        self._tokens = 0

    def offer(self, sequences: list[ScoredSequence]) -> None:
        """Keep as many as are needed."""
        for start in range(0, len(sequences), _AT_A_TIME):
            if self._tokens >= _BATCHES * self._generator.batch_tokens:
                return
            self._sequences += sequences[start : start + _AT_A_TIME]
            self._tokens = distinct_tokens(self._sequences)

    def tokens_per_s(self) -> float:
        """Distinct tokens per second, after a warm-up; 0 if nothing was offered."""
        if not self._sequences:
            return 0.0
        self._generator.score(self._sequences[:8])
        started = time.perf_counter()
        self._generator.score(self._sequences)
        return self._tokens / (time.perf_counter() - started)
