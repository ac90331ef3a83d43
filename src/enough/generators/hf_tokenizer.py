"""A transformers tokenizer as prompts see it: ids of text, control tokens, the chat frame."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from enough.errors import ModelError
from enough.protocols import Tokens

log = logging.getLogger(__name__)
_PLACEHOLDER = "\u2063enough-user-message\u2063"


class HFTokenizer:
    """Implements `protocols.Tokenizer`."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        # Runs of blanks are ordinary text in some vocabularies, though listed as added tokens.
        self.control_tokens = frozenset(t for t in tokenizer.get_added_vocab() if t.strip())
        self.fingerprint = self._fingerprint()

    def encode(self, text: str) -> Tokens:
        """Ids of the text; control tokens are recognised, none are added."""
        ids = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return np.array(ids, np.int32)

    def decode(self, tokens: Sequence[int]) -> str:
        """Text without control tokens."""
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return text

    def chat_frame(self, system: str) -> tuple[str, str]:
        """The model's chat template around the user message, thinking switched off."""
        if self._tokenizer.chat_template is None:
            return f"{self._tokenizer.bos_token or ''}{system}\n\n", "\n"
        user = {"role": "user", "content": _PLACEHOLDER}
        try:
            text = self._render([{"role": "system", "content": system}, user])
        except Exception as error:  # noqa: BLE001 (templates raise whatever they like)
            log.info("no system role in this chat template (%s); joining it to the request", error)
            user["content"] = f"{system}\n\n{_PLACEHOLDER}"
            text = self._render([user])
        before, found, after = text.partition(_PLACEHOLDER)
        if not found or _PLACEHOLDER in after:
            raise ModelError("the chat template does not contain the user message exactly once")
        return before, after

    def _render(self, messages: list[dict[str, str]]) -> str:
        text: str = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        return text

    def _fingerprint(self) -> str:
        described = json.dumps(
            [
                sorted(self._tokenizer.get_vocab().items()),
                self._tokenizer.chat_template,
                sorted(self.control_tokens),
            ]
        )
        return hashlib.blake2b(described.encode(), digest_size=16).hexdigest()
