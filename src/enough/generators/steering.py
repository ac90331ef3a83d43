"""Several prompts continued by one answer: a rule reads all their distributions, token by token.

In: a `protocols.Steering` and, at every step, what each stream makes of the next token. Out: scores
that leave one token, the same in every stream. It enters transformers' own decoding as the last
step on the logits, so padding, positions, caches and states are those of every other answer.
"""

from __future__ import annotations

import torch
from torch import Tensor

from enough.protocols import Steering


class SteeredScores:
    """A logits processor of transformers that lets a `Steering` choose."""

    def __init__(self, steering: Steering) -> None:
        self._steering = steering

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores [streams, vocabulary] in which the chosen token alone is possible."""
        log_probs = scores.float().log_softmax(dim=-1)
        chosen = self._steering.next(log_probs.cpu().numpy())
        only = torch.full_like(scores, float("-inf"))
        only[:, chosen] = 0.0
        return only
