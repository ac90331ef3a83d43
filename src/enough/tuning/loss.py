"""Negative log-likelihood of references, with gradients.

In: a model and sequences. Out: one number to descend. The prompt is read but not learnt, and only
the hidden states that predict a reference token go through the output layer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from enough.generators.causal_lm import CausalLM
from enough.generators.scoring import to_device
from enough.generators.token_trie import input_tokens
from enough.protocols import ScoredSequence


def summed_loss(lm: CausalLM, batch: Sequence[ScoredSequence]) -> Tensor:
    """Sum over examples of the mean negative log-likelihood of their reference tokens, []."""
    longest = max(len(input_tokens(s)) for s in batch)
    padded = np.zeros((len(batch), longest), np.int64)  # on the right, where nothing looks
    for row, sequence in zip(padded, batch, strict=True):
        row[: len(input_tokens(sequence))] = input_tokens(sequence)
    hidden = lm.hidden(to_device(lm, padded), use_cache=False)  # [b, n, d]
    places = np.concatenate(
        [
            i * longest + np.arange(len(s.tokens) - s.reference_length, len(s.tokens)) - 1
            for i, s in enumerate(batch)
        ]
    )
    targets = np.concatenate([s.tokens[-s.reference_length :] for s in batch])
    rows = hidden.flatten(0, 1)[to_device(lm, places)]  # [r, d]
    losses = torch.nn.functional.cross_entropy(  # [r]
        _logits(lm, rows), to_device(lm, targets), reduction="none"
    )
    lengths = [s.reference_length for s in batch]
    weights = np.repeat(np.reciprocal(np.array(lengths, np.float32)), lengths)  # [r]
    # Not as a product of vectors: autocast would round that to bfloat16.
    return (losses * torch.from_numpy(weights).to(lm.device)).sum()


def _logits(lm: CausalLM, rows: Tensor) -> Tensor:
    """As `CausalLM` has them: [r, d] to [r, vocabulary], in float32."""
    logits: Tensor = lm.output_layer(rows).float() * lm.factor
    if lm.softcap:
        logits = torch.tanh(logits / lm.softcap) * lm.softcap
    return logits
