"""An open generator without a model: words, and a tally of what reaches it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from enough.generators.fake import FakeGenerator
from enough.protocols import Floats, OnBatch, ScoredSequence, Steered, Tokens


class Rule:
    """A steering that takes the first prompt's favourite; another key is another rule."""

    def __init__(self, key: str = "first") -> None:
        self.key = key

    def next(self, log_probs: Floats) -> int:
        return int(log_probs[0].argmax())


class OpenFake(FakeGenerator):
    """Implements `protocols.OpenGenerator`; each call takes at least `pause` seconds."""

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__()
        self.asked: list[str] = []
        self._pause = pause

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        self._work("score")
        return super().score(sequences, on_batch)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        self._work("generate")
        return [f"é{prompt.sum()}/{max_new_tokens}" for prompt in prompts]

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        self._work("steer")
        said = []
        for answer in answers:
            rows = np.stack([prompt.astype(np.float32) for prompt in answer.prompts])
            said.append(f"{answer.steering.key} {[answer.steering.next(rows)]} {max_new_tokens}")
        return said

    def attention(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        self._work("attention")
        return [prefix / (suffix.sum() + 3.0) for suffix in suffixes]

    def _work(self, what: str) -> None:
        self.asked.append(what)
        time.sleep(self._pause)


class Broken(OpenFake):
    """Fails whatever it is asked: nothing may reach it."""

    def _work(self, what: str) -> None:
        raise AssertionError(f"{what} was computed")
