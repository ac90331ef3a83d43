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
from enough.generators.scoring import padded_batch, to_device
from enough.protocols import ScoredSequence


def summed_loss(lm: CausalLM, batch: Sequence[ScoredSequence]) -> Tensor:
    """Sum over examples of the mean negative log-likelihood of their reference tokens, []."""
    ids, places = padded_batch(batch)
    hidden = lm.hidden(to_device(lm, ids), use_cache=False)  # [b, n, d]
    targets = np.concatenate([s.tokens[-s.reference_length :] for s in batch])
    rows = hidden.flatten(0, 1)[to_device(lm, places)]  # [r, d]
    losses = torch.nn.functional.cross_entropy(  # [r]
        lm.logits(rows), to_device(lm, targets), reduction="none"
    )
    lengths = [s.reference_length for s in batch]
    weights = np.repeat(np.reciprocal(np.array(lengths, np.float32)), lengths)  # [r]
    # Not as a product of vectors: autocast would round that to bfloat16.
    return (losses * torch.from_numpy(weights).to(lm.device)).sum()
