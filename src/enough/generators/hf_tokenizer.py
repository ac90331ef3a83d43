"""A transformers tokenizer as prompts see it: ids of text, control tokens, the chat frame."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from enough.errors import ModelError
from enough.protocols import Tokens

log = logging.getLogger(__name__)
_PLACEHOLDER = "\u2063enough-user-message\u2063"
_MARKER = re.compile(r"<<?[|/]?[\w|/]+>>?|\[/?[A-Z_]+\]")
_DATE = datetime(2025, 1, 1, tzinfo=UTC)
TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>")
"""What chat templates end a turn with."""
_TODAY = re.compile(r"strftime_now\(\s*(['\"])(.*?)\1\s*\)")


_PROBES = (
    "The quick brown fox jumps over 13 lazy dogs; it isn't 3.14159, it's 2,718,281!",
    "  two blanks,\ttab,\nline\r\nand\n\n\nthree lines   ",
    "camelCase snake_case kebab-case PATH=/usr/bin:$HOME <tag attr='x'> {\"k\": [1, 2]}",
    "Übergrößenträger naïve façade Ærøskøbing Łódź ﬁnancial ½ ² Ⅷ e\u0301 é",
    "Съешь же ещё этих мягких французских булок",
    "東京都 漢字かな交じり文 한국어 العربية עברית हिन्दी",
    "🙂👩‍👩‍👧‍👦🇫🇷 ∑∀x∈ℝ — “quotes” ‘single’ …\u00a0\u200b\u2063\ufeff",
    "aaaaaaaaaaaaaaaa 1111111111111111 ---------------- ................ ================",
    "internationalisation antidisestablishmentarianism xqzjv wrrghk ATTN: RE: FW: U.S.A.",
)
"""Text on which tokenizers that differ in anything but name are very likely to differ."""


class HFTokenizer:
    """Implements `protocols.ManyTokenizer`."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._backend: Any = tokenizer.backend_tokenizer if tokenizer.is_fast else None
        # Runs of blanks are ordinary text in some vocabularies, though listed as added tokens.
        added = {token for token in tokenizer.get_added_vocab() if token.strip()}
        self.control_tokens = frozenset(added | self._turn_markers())
        self.fingerprint = self._fingerprint()

    def encode(self, text: str) -> Tokens:
        """Ids of the text; control tokens are recognised, none are added."""
        backend = self._backend
        if backend is None or not _is_plain(backend):
            ids = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        else:  # without the detour by a batch, which wakes threads for one text
            ids = backend.encode(text, add_special_tokens=False).ids
        return np.array(ids, np.int32)

    def encode_many(self, texts: Sequence[str]) -> list[Tokens]:
        """Of each what `encode` gives."""
        backend = self._backend
        if backend is None or not _is_plain(backend):
            return [self.encode(text) for text in texts]
        made = backend.encode_batch_fast(list(texts), add_special_tokens=False)
        return [np.array(one.ids, np.int32) for one in made]

    def decode(self, tokens: Sequence[int]) -> str:
        """Text without control tokens."""
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return text

    @property
    def ends(self) -> Mapping[str, int]:
        """Every token that ends an answer, by its text: a turn's end and the end of text."""
        added = self._tokenizer.get_added_vocab()
        found = {token: added[token] for token in TURN_ENDS if token in added}
        if self._tokenizer.eos_token is not None:
            found.setdefault(self._tokenizer.eos_token, int(self._tokenizer.eos_token_id))
        return found

    def spell(self, tokens: Sequence[int]) -> str:
        """The exact text of these ids, control tokens included."""
        text: str = self._tokenizer.decode(
            tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
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

    def chat_text(self, messages: Sequence[dict[str, str]]) -> str:
        """A whole chat in the model's own form, up to where the next answer begins.

        Raises:
            ModelError: if the template takes no such turns.
        """
        try:
            return self._render(list(messages))
        except Exception as error:  # noqa: BLE001 (templates raise whatever they like)
            raise ModelError(f"the model's chat form does not take these turns: {error}") from None

    def _render(self, messages: list[dict[str, str]]) -> str:
        text: str = self._tokenizer.apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=False,
            # Some templates write today's date; a prompt must not change overnight.
            date_string=_DATE.strftime("%d %b %Y"),
            chat_template=_undated(self._tokenizer.get_chat_template()),
        )
        return text

    def _turn_markers(self) -> set[str]:
        """What the template writes around turns and is ordinary text to the tokenizer.

        In some models a role marker such as <|assistant|> is no token of its own; text that holds
        it would forge a turn all the same.
        """
        if self._tokenizer.chat_template is None:
            return set()
        turns = [{"role": role, "content": _PLACEHOLDER} for role in ("user", "assistant", "user")]
        try:
            text = self._render(turns)
        except Exception as error:  # noqa: BLE001 (templates raise whatever they like)
            log.info("this chat template takes no earlier turns: %s", error)
            return set()
        return set(_MARKER.findall(text))

    def _fingerprint(self) -> str:
        """What the tokenizer does, not how a library writes it down: that changes with versions."""
        described = json.dumps(
            [
                sorted(self._tokenizer.get_vocab().items()),
                [self.encode(text).tolist() for text in _PROBES],
                sorted(self.control_tokens),
                self._tokenizer.chat_template,
                self._tokenizer.bos_token,
            ]
        )
        return hashlib.blake2b(described.encode(), digest_size=16).hexdigest()


def _is_plain(backend: Any) -> bool:
    """Whether nothing is left of somebody's call that cut, filled, or split control tokens."""
    return (
        backend.truncation is None and backend.padding is None and not backend.encode_special_tokens
    )


def _undated(template: str) -> str:
    """The template with a fixed date in place of today's."""
    return _TODAY.sub(lambda found: repr(_DATE.strftime(found[2])), template)
