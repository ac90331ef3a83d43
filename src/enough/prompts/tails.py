"""Ends of prompts, tokenised together where several requests wait.

In: inputs that are expected to be asked for soon, from any thread. Out: the tokens of an input's
end; with the first that is asked for, all that are expected are made. A tokenizer's tables are
large and, between other work, no longer in the processor's cache: for several texts in a row they
are fetched once. Nothing is kept of an input that nobody expects any more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from enough.protocols import Tokens

_TOGETHER = 16  # texts, so that nobody waits long for others'


class Tails:
    """Safe for many threads.

    Args:
        make: the tokens of several inputs' ends, each as it would be made alone.
    """

    def __init__(self, make: Callable[[Sequence[str]], list[Tokens]]) -> None:
        self._make = make
        self._expected: dict[str, int] = {}
        self._waiting: dict[str, None] = {}  # of these, the ones not made yet, in order
        self._made: dict[str, Tokens] = {}
        self._lock = threading.Lock()

    def expecting(self, text: str) -> AbstractContextManager[None]:
        """In here the input's end may be made with others'."""
        return _Expecting(self, text)

    def expect(self, text: str) -> None:
        """The input's end may be made with others' until it is let go."""
        with self._lock:
            self._expected[text] = self._expected.get(text, 0) + 1
            if text not in self._made:
                self._waiting[text] = None

    def let_go(self, text: str) -> None:
        """One less expects it."""
        with self._lock:
            self._expected[text] -= 1
            if not self._expected[text]:
                del self._expected[text]
                self._waiting.pop(text, None)
                self._made.pop(text, None)

    def of(self, text: str) -> Tokens:
        """Tokens of the input's end."""
        with self._lock:
            if (found := self._made.get(text)) is not None:
                return found
            others = [one for one in self._waiting if one != text][: _TOGETHER - 1]
            row = [text, *others] if text in self._waiting else [text]
            for one in row:
                self._waiting.pop(one, None)
        try:
            made = self._make(row)
        except Exception:
            if len(row) == 1:
                raise
            return self._make([text])[0]  # nobody fails for another's text
        with self._lock:
            self._made |= {
                one: tokens for one, tokens in zip(row, made, strict=True) if one in self._expected
            }
        return made[0]


class _Expecting(AbstractContextManager[None]):
    """A context manager; as a generator it would cost several times as much."""

    __slots__ = ("_tails", "_text")

    def __init__(self, tails: Tails, text: str) -> None:
        self._tails, self._text = tails, text

    def __enter__(self) -> None:
        self._tails.expect(self._text)

    def __exit__(self, *_: object) -> None:
        self._tails.let_go(self._text)
