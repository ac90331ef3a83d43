r"""User text that cannot leave its field.

In: any text a user may have written. Out: text of one line in which nothing reads as one of our
section delimiters, field tags or the model's control tokens. `unescape_field` gives the original
back, character for character:

    \\  a backslash      \n \r  line ends
    \-  nothing: it only breaks a delimiter, a tag or a control token apart
    \uXXXX  other line separators and control characters, lone surrogates, and characters that a
            normalising tokenizer would turn into part of a delimiter
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from enough.errors import ModelError

SECTIONS = ("TASK", "USER_HISTORY", "CURRENT_REQUEST")
TAGS = ("TASK", "HIST_CONTEXT", "USER_ACTION", "META")
_BREAK = "\\-"

# Case and inner spaces are ignored: a model would still read "</ user_history >" as a delimiter.
# Possessive quantifiers keep a megabyte of blanks linear.
_DELIMITER = re.compile(
    rf"<(?=\s*+/?\s*+(?:{'|'.join(SECTIONS)})\s*+>)|\[(?=\s*+(?:{'|'.join(TAGS)})\s*+\])",
    flags=re.IGNORECASE,
)
_SPECIAL = re.compile(r"[\\\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNSENDABLE = re.compile(r"[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(?:\\|n|r|-|u[0-9a-f]{4})")
_NAMED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_MEANING = {"\\\\": "\\", "\\n": "\n", "\\r": "\r", _BREAK: ""}


def as_code(character: str) -> str:
    r"""The \uXXXX form of a character of the basic plane."""
    return f"\\u{ord(character):04x}"


class Escaper:
    """Escapes for one model: its control tokens are broken apart like our own delimiters.

    Raises:
        ModelError: if a control token is so short that its own escape would contain it.
    """

    def __init__(self, control_tokens: Iterable[str] = ()) -> None:
        tokens = sorted((t for t in control_tokens if t.strip()), key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, tokens))) if tokens else None
        if self._control is not None:
            for written in (*map(_split_token, tokens), _BREAK, *_NAMED.values(), as_code("\0")):
                if found := self._control.search(written):
                    raise ModelError(f"the control token {found[0]!r} cannot be escaped")

    def field(self, text: str) -> str:
        """One line that stands for `text` inside a record."""
        line = _SPECIAL.sub(lambda found: _NAMED.get(found[0]) or as_code(found[0]), text)
        return self._broken_apart(line)

    def request(self, text: str) -> str:
        """The current input: passed through untouched unless it holds something dangerous."""
        if not text.isascii():
            text = _UNSENDABLE.sub(lambda found: as_code(found[0]), text)
        return self._broken_apart(text)

    def _broken_apart(self, text: str) -> str:
        if not text.isascii():
            text = _lookalikes().sub(lambda found: as_code(found[0]), text)
        return self.controls(_DELIMITER.sub(lambda found: found[0] + _BREAK, text))

    def controls(self, text: str) -> str:
        """The text with the model's control tokens broken apart, and nothing else changed."""
        # A token inside another is only found once the outer one is broken, hence the loop.
        while self._control is not None and self._control.search(text):
            text = self._control.sub(lambda found: _split_token(found[0]), text)
        return text


def _split_token(token: str) -> str:
    # A first character that the break itself holds would bring the token back.
    if len(token) == 1 or token[0] in _BREAK:
        return as_code(token[0]) + token[1:]
    return token[0] + _BREAK + token[1:]


@cache
def _lookalikes() -> re.Pattern[str]:
    """Characters that a normalising tokenizer turns into part of a delimiter."""
    found = (
        chr(code)
        for code in range(0x80, 0xFFFF)
        if set("<>[]/\\;=") & set(unicodedata.normalize("NFKC", chr(code)))
    )
    return re.compile(f"[{''.join(map(re.escape, found))}]")


def unescape_field(line: str) -> str:
    """The text that `Escaper.field` was given, whatever the model."""
    return _ESCAPED.sub(_meaning, line)


def _meaning(found: re.Match[str]) -> str:
    escaped = found[0]
    return _MEANING[escaped] if escaped in _MEANING else chr(int(escaped[2:], 16))
