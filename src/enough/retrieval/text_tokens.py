"""Texts as rows of token ids, for a frozen encoder.

In: texts of any length and content. Out: ids with the model's own special tokens, at most so many.
The library's tokenizer is copied and set up once: transformers sets it up anew for every call,
which takes longer than a short text's tokens and is not safe where several threads encode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_CHARACTERS_PER_TOKEN = 64  # far above any real text; megabytes that would be cut stay unread


class TextTokens:
    """Safe for many threads.

    Args:
        tokenizer: of transformers, backed by the tokenizers library.
        max_length: tokens of a text, special ones included.
    """

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        backend = tokenizer.backend_tokenizer
        self._backend: Any = type(backend).from_str(backend.to_str())
        self._backend.no_padding()
        self._backend.enable_truncation(max_length, direction=tokenizer.truncation_side)
        # What looks like a special token in a user's text stays text.
        self._backend.encode_special_tokens = True
        self._room = max_length * _CHARACTERS_PER_TOKEN
        end: int | None = tokenizer.eos_token_id
        self._stand_in = [0 if end is None else end]
        self.reading = (max_length, _CHARACTERS_PER_TOKEN)  # for a fingerprint

    def rows(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of every text, at least one; half surrogates, which have none, become "?"."""
        clean = [text[: self._room].encode("utf-8", "replace").decode() for text in texts]
        # The fast call leaves out offsets, which nobody reads, and leaves Python's lock free.
        return [one.ids or self._stand_in for one in self._backend.encode_batch_fast(clean)]
