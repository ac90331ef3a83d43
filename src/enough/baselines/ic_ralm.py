"""IC-RALM: one record at a time stands in the prompt, and which one changes while it is written.

In: the first k records of the pool, each in a prompt of its own. Out: one answer. Every `stride`
tokens that prompt becomes the active one under which the last `length` written tokens were most
likely; the next tokens are the active prompt's most likely ones. The first active record is the
retriever's first. Stride, length and k are those of the method's adaptation to LaMP; the original
retrieves anew at every stride and reports perplexities, not answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from enough.baselines.several_prompts import SeveralPrompts, write_all
from enough.baselines.tools import Tools
from enough.config import require_at_least
from enough.protocols import Answered, Asked, Floats, Method
from enough.records import Record


@dataclass(frozen=True, slots=True)
class ICRALMConfig:
    """Settings.

    Attributes:
        k: prompts, each with one record.
        stride: tokens between two choices of the active prompt.
        length: written tokens that a choice looks at.
    """

    k: int = 5
    stride: int = 5
    length: int = 5

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1, "stride": 1, "length": 1})

    def build(self, tools: Tools) -> Method:
        """Write with changing records."""
        return SwitchingMethod(self, tools)


class ContextSwitching:
    """Implements `protocols.Steering` for one answer."""

    def __init__(self, stride: int, length: int) -> None:
        self._stride = stride
        self._written = 0
        self._recent: deque[NDArray[np.float64]] = deque(maxlen=length)  # of [prompts]
        self._active = 0
        self.key = f"ic-ralm stride={stride} length={length}"

    def next(self, log_probs: Floats) -> int:
        """The active prompt's most likely token; ties go to the earlier record."""
        if self._written and self._written % self._stride == 0:
            self._active = int(np.sum(self._recent, axis=0).argmax())
        token = int(log_probs[self._active].argmax())
        self._recent.append(log_probs[:, token].astype(np.float64))
        self._written += 1
        return token


class SwitchingMethod:
    """Implements `protocols.Method`."""

    def __init__(self, config: ICRALMConfig, tools: Tools) -> None:
        self._config = config
        self._tools = tools

    def answer(self, asked: Asked) -> Answered:
        """One answer to several prompts; one prompt or none is answered as usual."""
        return self._planned(asked).answer(self._tools)

    def foresee(self, many: Sequence[Asked]) -> None:
        """Have all these answers written together."""
        write_all([self._planned(asked) for asked in many], self._tools)

    def _planned(self, asked: Asked) -> SeveralPrompts:
        records = self._records(asked)
        several = len(records) > 1
        reason = f"{len(records)} prompts of one record" if several else "nothing more fits"
        rule = partial(ContextSwitching, self._config.stride, self._config.length)
        return SeveralPrompts(asked.request, records, rule, reason)

    def _records(self, asked: Asked) -> tuple[Record, ...]:
        """The first k that fit a prompt each."""
        budget = asked.budget
        fitting = [
            candidate.record
            for candidate, tokens in zip(asked.pool, budget.record_tokens, strict=True)
            if tokens <= budget.max_profile_tokens
        ]
        return tuple(fitting[: min(self._config.k, budget.max_records)])
