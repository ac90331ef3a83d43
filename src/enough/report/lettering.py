"""How wide text is, without a font at hand, and where it breaks.

In: text and a size in pixels. Out: a width, or lines that fit one. Which font a reader's system has
is not known, so widths are those of a wide one; text then has a little more room than it needs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_CUT = "…"
_CLASSES = (
    ("iljI|'.,:;!", 0.36),
    ('ftr()[]{}/\\-" `', 0.43),
    ("mwMW@%…—", 0.99),
    ("ABCDEFGHKNOPQRUVXYZ&+=<>−×±", 0.79),
)
_WIDTHS = {letter: width for letters, width in _CLASSES for letter in letters}
_ORDINARY, _FULL = 0.64, 1.05


def width_of(text: str, size: float) -> float:
    """Pixels, rather too many than too few."""
    return size * sum(_WIDTHS.get(letter) or _other(letter) for letter in text)


def cut(text: str, width: float, size: float) -> str:
    """The text, or as much of both its ends as fits; long names often differ only at the end."""
    if width_of(text, size) <= width:
        return text
    kept = len(text) - 1
    while kept and width_of(_ends(text, kept), size) > width:
        kept -= 1
    return _ends(text, kept)


def _ends(text: str, kept: int) -> str:
    tail = kept * 2 // 5
    return f"{text[: kept - tail].rstrip()}{_CUT}{text[len(text) - tail :].lstrip()}"


def wrapped(text: str, width: float, size: float, most: int = 3) -> list[str]:
    """At most `most` lines, broken between words; what does not fit is cut."""
    words = _pieces(text)
    lines = [""]
    for word in words:
        if not lines[-1] or width_of((lines[-1] + word).rstrip(), size) <= width:
            lines[-1] += word
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], "".join(lines[most - 1 :])]
    return [cut(line.strip(), width, size) for line in lines]


def longest_piece(text: str, size: float) -> float:
    """Width of the longest part that cannot be broken."""
    return max((width_of(piece.rstrip(), size) for piece in _pieces(text)), default=0.0)


def widest(lines: Sequence[str], size: float) -> float:
    """Width of the widest line."""
    return max((width_of(line, size) for line in lines), default=0.0)


def _pieces(text: str) -> list[str]:
    """Words with what separates them; a line may also end inside one, as after a hyphen."""
    return re.findall(r"\S+?[-/,_](?=[^\W\d])|\S+\s*", " ".join(text.split()))


def _other(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    return _FULL if unicodedata.east_asian_width(letter) in "WF" else _ORDINARY
