"""Which records speak of what the request speaks of, by their words.

In: a query and the words of a pool's texts. Out: one number per text: the weight of the words it
shares with the query, where a word that few texts of the pool have weighs most. Vectors of whole
texts blur such words. Words are cut to their first letters, so that forms of a word are one.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from enough.protocols import Floats

_WORD = re.compile(r"\w+")
_LETTERS = 5


def shared_words(query: str, texts: Sequence[NDArray[np.int64]]) -> Floats:
    """Σ idf of shared words over √(1 + words of the text), [len(texts)].

    Args:
        query: what is asked.
        texts: `stems` of the pool's texts.
    """
    wanted = stems(query)
    if not texts or not len(wanted):
        return np.zeros(len(texts), np.float32)
    sizes = np.array([len(one) for one in texts])
    words, owner = np.concatenate(texts), np.repeat(np.arange(len(texts)), sizes)
    place = np.minimum(wanted.searchsorted(words), len(wanted) - 1)
    is_shared = wanted[place] == words
    place = place[is_shared]
    count = np.bincount(place, minlength=len(wanted))  # texts that have each word of the query
    idf = np.log1p((len(texts) - count + 0.5) / (count + 0.5))
    found = np.bincount(owner[is_shared], weights=idf[place], minlength=len(texts))
    return np.asarray(found / np.sqrt(1 + sizes), np.float32)


def stems(text: str) -> NDArray[np.int64]:
    """Numbers of the distinct words of a text, sorted."""
    words = {word[:_LETTERS] for word in _WORD.findall(text.lower())}
    return np.array(sorted(zlib.crc32(word.encode("utf-8", "replace")) for word in words), np.int64)
