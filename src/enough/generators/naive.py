"""The reference scorer: every sequence whole, in padded batches sorted by length.

No prefix is shared. Padding stands on the right, where causal attention and recurrent layers cannot
see it, so no mask is needed and the kernel's fast causal path is used.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from enough.generators.causal_lm import CausalLM
from enough.generators.scoring import (
    Results,
    mean_log_likelihoods,
    padded_batch,
    to_device,
)
from enough.generators.token_trie import input_tokens
from enough.protocols import OnBatch, ScoredSequence


class NaiveScorer:
    """Padded batches of at most `max_tokens` tokens, padding included."""

    def __init__(self, lm: CausalLM, max_tokens: int) -> None:
        self._lm = lm
        self._max_tokens = max_tokens

    @torch.inference_mode()
    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """One value per sequence."""
        results = Results(len(sequences), on_batch)
        lengths = np.array([len(input_tokens(s)) for s in sequences], np.int64)
        order = np.argsort(lengths, kind="stable")
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and lengths[order[end]] * (end + 1 - start) <= self._max_tokens:
                end += 1
            members = order[start:end]
            results.add(members, self._batch([sequences[i] for i in members]))
            start = end
        return results.scores

    def _batch(self, batch: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        ids, places = padded_batch(batch)
        hidden = self._lm.hidden(to_device(self._lm, ids), use_cache=False)  # [b, n, d]
        rows = hidden.flatten(0, 1)[to_device(self._lm, places)]
        return mean_log_likelihoods(self._lm, rows, batch)
