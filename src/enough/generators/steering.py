"""Several prompts continued by one answer: a rule reads all their distributions, token by token.

In: answers with a `protocols.Steering` each and, at every step, what each stream makes of the next
token. Out: scores that leave one token, the same in every stream of an answer. It enters
transformers' own decoding as the last step on the logits, so padding, positions, caches and states
are those of every other answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from enough.protocols import Steered


class SteeredScores:
    """A logits processor of transformers that lets each answer's `Steering` choose.

    Streams stand in the order of the answers and of their prompts. A steering is not asked for
    anything behind the token that ends its answer.
    """

    def __init__(self, answers: Sequence[Steered], end_tokens: Collection[int]) -> None:
        self._answers = answers
        self._end_tokens = end_tokens
        self._ended: dict[int, int] = {}  # answer -> the token it ended with

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores [streams, vocabulary] in which the chosen token alone is possible."""
        log_probs = scores.float().log_softmax(dim=-1).cpu().numpy()
        chosen: list[int] = []
        for place, answer in enumerate(self._answers):
            streams = len(answer.prompts)
            token = self._ended.get(place)
            if token is None:
                start = len(chosen)
                token = answer.steering.next(log_probs[start : start + streams])
                if token in self._end_tokens:
                    self._ended[place] = token
            chosen += [token] * streams
        only = torch.full_like(scores, float("-inf"))
        places = torch.tensor(chosen, device=scores.device)
        return only.scatter_(1, places[:, None], 0.0)
