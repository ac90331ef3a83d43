"""What all scorers share: from the hidden rows that predict a reference to its mean likelihood.

Three scorers give one result: `naive` (padded batches, the reference), `packed` (each distinct
token once) and `forked` (caches forked at branches, for models with recurrent layers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from enough.errors import ModelError
from enough.generators.causal_lm import CausalLM
from enough.generators.token_trie import input_tokens
from enough.protocols import OnBatch, ScoredSequence, Tokens


class Scorer(Protocol):
    """Mean log-likelihoods of many references."""

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """One value per sequence, [len(sequences)]."""
        ...


class Results:
    """Collects scores as batches finish, and tells whoever wants to know."""

    def __init__(self, count: int, on_batch: OnBatch | None) -> None:
        self.scores = np.full(count, np.nan)
        self._on_batch = on_batch

    def add(self, members: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Record the scores of some sequences."""
        if not np.isfinite(scores).all():
            raise ModelError("a likelihood came out as not a number; load the model in float32")
        self.scores[members] = scores
        if self._on_batch is not None:
            self._on_batch(members, scores)


def to_device(lm: CausalLM, values: Tokens | NDArray[np.int64]) -> Tensor:
    """Integers as a tensor beside the model."""
    return torch.from_numpy(values.astype(np.int64)).to(lm.device, non_blocking=True)


def padded_batch(
    batch: Sequence[ScoredSequence],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Inputs padded on the right, where nothing looks, and the rows that predict references.

    Returns:
        ids [b, n]; places of those rows in the flattened [b · n], joined in the order of the batch.
    """
    longest = max(len(input_tokens(s)) for s in batch)
    ids = np.zeros((len(batch), longest), np.int64)
    for row, sequence in zip(ids, batch, strict=True):
        row[: len(input_tokens(sequence))] = input_tokens(sequence)
    places = [
        i * longest + np.arange(len(s.tokens) - s.reference_length, len(s.tokens)) - 1
        for i, s in enumerate(batch)
    ]
    return ids, np.concatenate(places)


def mean_log_likelihoods(
    lm: CausalLM, rows: Tensor, sequences: Sequence[ScoredSequence]
) -> NDArray[np.float64]:
    """Mean log-probability of each reference.

    Args:
        lm: the model.
        rows: hidden states that predict the references' tokens, joined in the order of
            `sequences`, [sum of reference lengths, d].
        sequences: whose references they predict.
    """
    targets = np.concatenate([s.tokens[-s.reference_length :] for s in sequences])
    values = lm.log_probs(rows, to_device(lm, targets))
    lengths = np.array([s.reference_length for s in sequences])
    means: NDArray[np.float64] = np.add.reduceat(values, np.cumsum(lengths) - lengths) / lengths
    return means
