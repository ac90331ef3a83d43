"""From what a step of many searches wants to calls of the generator, each made once.

In: sequences, possibly thousands. Out: their scores. Equal sequences are scored once. The others
are cut, in the order of their token trie, into calls of a fixed size: a function of the sequences
alone, so a resumed run makes the calls that are missing, exactly as they would have been made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.errors import ModelError
from enough.generators.token_trie import input_tokens, sorted_with_overlaps
from enough.labels.journal import FinishedCalls, call_key
from enough.protocols import Generator, ScoredSequence

_BATCHES_PER_CALL = 16  # a kill loses at most this much work; fewer would share less


@dataclass(frozen=True, slots=True)
class CallReport:
    """A finished call: how much it was, and whether it came from the journal."""

    profiles: int
    tokens: int
    from_journal: bool


OnCall = Callable[[CallReport], None]


def _require_finite(scores: NDArray[np.float64], generator: str) -> None:
    if not (is_finite := np.isfinite(scores)).all():
        raise ModelError(
            f"{(~is_finite).sum()} of {len(scores)} likelihoods of generator {generator} are not "
            'finite; load it with dtype = "float32" or "bfloat16"'
        )


class ScoringCalls:
    """Scores sequences with a generator, and remembers finished calls in a journal."""

    def __init__(
        self, generator: Generator, journal: FinishedCalls, on_call: OnCall | None = None
    ) -> None:
        self._generator = generator
        self._journal = journal
        self._on_call = on_call or (lambda _: None)
        self._limit = _BATCHES_PER_CALL * generator.batch_tokens
        self.profiles = 0
        self.tokens = 0
        self.repeated = 0

    def score(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """Mean log-likelihoods, [len(sequences)]."""
        first: dict[tuple[bytes, int], int] = {}
        keys = [(s.tokens.tobytes(), s.reference_length) for s in sequences]
        places = np.array([first.setdefault(key, len(first)) for key in keys], np.int64)
        distinct = [ScoredSequence(np.frombuffer(t, np.int32), n) for t, n in first]
        self.repeated += len(sequences) - len(distinct)
        scores = np.full(len(distinct), np.nan)
        for members, tokens in self._calls(distinct):
            scores[members] = self._one_call([distinct[i] for i in members], tokens)
        return scores[places]

    def _calls(
        self, sequences: Sequence[ScoredSequence]
    ) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Members of each call, and how many tokens have to be computed for it."""
        order, overlap = sorted_with_overlaps(sequences)
        start, size = 0, 0
        for i, which in enumerate(order):
            length = len(input_tokens(sequences[which]))
            fresh = length - (int(overlap[i]) if i > start else 0)
            if i > start and size + fresh > self._limit:
                yield order[start:i], size
                start, size, fresh = i, 0, length
            size += fresh
        if len(order):
            yield order[start:], size

    def _one_call(self, sequences: Sequence[ScoredSequence], tokens: int) -> NDArray[np.float64]:
        key = call_key(self._generator.fingerprint, sequences)
        known = self._journal.get(key)
        scores = self._generator.score(sequences) if known is None else known
        if known is None:
            _require_finite(scores, self._generator.fingerprint)
            self._journal.put(key, scores)
        self.profiles += len(sequences)
        self.tokens += tokens
        self._on_call(CallReport(len(sequences), tokens, known is not None))
        return scores
