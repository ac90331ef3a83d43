"""Answers by the generator of the configuration, in this process.

In: tokens of a prompt, or a chat. Out: its text, greedy. The weights are loaded at the first
answer, or before; one answer is written at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from enough.errors import BudgetError, DataError, ModelError
from enough.generators.config import GeneratorConfig
from enough.prompts.escape import Escaper
from enough.protocols import Generator, Tokens


@dataclass(frozen=True, slots=True)
class Written:
    """An answer and what it took, in tokens."""

    text: str
    prompt_tokens: int
    answer_tokens: int


class LocalWriter:
    """Writes with a generator.

    Args:
        config: which one to load.
        generator: one that is loaded already.
    """

    def __init__(self, config: GeneratorConfig, generator: Generator | None = None) -> None:
        self.model = config.model
        self._config = config
        self._generator = generator
        self._lock = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        """Whether the next answer has to wait for no weights."""
        return self._generator is not None

    def load(self) -> Generator:
        """The generator; the first call loads it."""
        with self._lock:
            if self._generator is None:
                from enough.generators.loading import load_configured  # noqa: PLC0415 (heavy)

                self._generator = load_configured(self._config)
            return self._generator

    def write(self, prompt: Tokens, most: int) -> Written:
        """One answer of at most so many tokens."""
        generator = self.load()
        if len(prompt) + most > generator.window:
            raise BudgetError(
                f"{len(prompt)} prompt tokens and {most} for the answer; the window has "
                f"{generator.window}"
            )
        (text,) = generator.generate([prompt], most)
        return Written(text, len(prompt), len(generator.tokenizer.encode(text)))

    def chat(self, messages: Sequence[tuple[str, str]], most: int) -> Written:
        """The next turn of a chat, given as (role, text)."""
        tokenizer = self.load().tokenizer
        render = getattr(tokenizer, "chat_text", None)
        if render is None:
            raise ModelError("the local model has no chat form")
        escaper = Escaper(tokenizer.control_tokens)
        turns = [
            # Half characters, which no tokenizer takes, become "?".
            {"role": role, "content": escaper.controls(text.encode("utf-8", "replace").decode())}
            for role, text in messages
        ]
        try:
            text = render(turns)
        except ModelError as error:
            raise DataError(str(error), field="messages") from None
        return self.write(tokenizer.encode(text), most)
