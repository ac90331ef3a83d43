"""A deterministic generator without a language model: for tests, doctests and trying things out.

In: prompts over words. Out: a likelihood that is high for reference words the prompt contains, and
an answer that copies the last action in the profile. It needs no download and no framework, and it
behaves enough like the real thing: useful records help, long prompts cost.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from enough.protocols import OnBatch, ScoredSequence, Tokens

_USER, _END = "<|user|>", "<|end|>"
_WORDS = re.compile(r"<\|user\|>|<\|end\|>|\w+|[^\w\s]|\s")
_SEEN, _UNSEEN = math.log(0.5), math.log(0.01)


class FakeTokenizer:
    """Words, punctuation and single blanks; ids are checksums of the text they stand for."""

    def __init__(self) -> None:
        self.fingerprint = "fake-words-1"
        self.control_tokens = frozenset({_USER, _END})
        self._text: dict[int, str] = {}

    def encode(self, text: str) -> Tokens:
        """One id per word, mark or blank."""
        words = _WORDS.findall(text)
        ids = [zlib.crc32(word.encode()) & 0x7FFFFFFF for word in words]
        self._text.update(zip(ids, words, strict=True))
        return np.array(ids, np.int32)

    def decode(self, tokens: Sequence[int]) -> str:
        """The words of ids that were encoded before."""
        words = (self._text[token] for token in tokens)
        return "".join(word for word in words if word not in self.control_tokens)

    @property
    def ends(self) -> dict[str, int]:
        """The end of a turn."""
        return {_END: int(self.encode(_END)[0])}

    def spell(self, tokens: Sequence[int]) -> str:
        """The words of ids that were encoded before, control tokens included."""
        return "".join(self._text[token] for token in tokens)

    def chat_frame(self, system: str) -> tuple[str, str]:
        """A two-token chat template."""
        return f"{system}\n{_USER}", f"{_END}\n"

    def chat_text(self, messages: Sequence[dict[str, str]]) -> str:
        """All turns, one after the other."""
        return "".join(f"{one['role']}\n{_USER}{one['content']}{_END}\n" for one in messages)


class FakeGenerator:
    """Implements `protocols.Generator`."""

    def __init__(self, window: int = 4096) -> None:
        self.tokenizer = FakeTokenizer()
        self.fingerprint = "fake-1"
        self.window = window
        self.batch_tokens = 2048

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Mean over reference tokens: log 0.5 for one the prompt holds, log 0.01 otherwise."""
        scores = np.array([_score(sequence) for sequence in sequences], np.float64)
        if on_batch is not None and len(scores):
            on_batch(np.arange(len(scores)), scores)
        return scores

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """The same: there is no rounding here."""
        return FakeGenerator.score(self, sequences)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """The last [USER_ACTION] of the profile, or nothing for an empty one."""
        return [self._answer(prompt, max_new_tokens) for prompt in prompts]

    def _answer(self, prompt: Tokens, max_new_tokens: int) -> str:
        text = self.tokenizer.decode(prompt.tolist())
        _, _, rest = text.rpartition("[USER_ACTION] ")
        action = rest.partition(" [META]")[0] if rest != text else ""
        return "".join(_WORDS.findall(action)[:max_new_tokens])


def _score(sequence: ScoredSequence) -> float:
    prompt = sequence.tokens[: -sequence.reference_length]
    seen = np.isin(sequence.tokens[-sequence.reference_length :], prompt)
    return float(np.where(seen, _SEEN, _UNSEEN).mean())
