"""Near duplicates: texts that share their wording and lie close in an embedding.

In: texts of records and of a target. Out: the pairs that share enough wording, and the cosine of
each pair. Wording is cheap to compare and embeddings are not, so it comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from enough.data.duplicates import folded
from enough.protocols import Encoder, Floats

_Pieces = NDArray[np.uint64]
Pair = tuple[str, str]
"""A record's text and a text of the target."""

_PIECE = 5  # letters; long enough that unrelated English texts share few pieces
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits evenly mixed
_FIRST_BITS = 12
_OTHER_BITS = np.uint64(64 - _FIRST_BITS)
_BLOCK = 256  # texts between two reports of progress


class Wording:
    """Which pairs of texts share their wording; remembers what it has taken apart."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._pieces: dict[str, _Pieces] = {}
        self.size = 0  # bytes

    def forget(self, texts: Iterable[str]) -> None:
        """These will not be compared again."""
        for text in texts:
            if (known := self._pieces.pop(text, None)) is not None:
                self.size -= known.nbytes

    def suspicious(self, texts: Sequence[str], targets: Sequence[str]) -> list[tuple[int, int]]:
        """Places of text and target where the shorter has enough of its pieces in the longer."""
        if self._least == 0:
            return [(i, j) for i in range(len(texts)) for j in range(len(targets))]
        if not texts or not targets:
            return []
        apart = [self._taken_apart(text) for text in texts]
        sizes = np.array([len(one) for one in apart])
        pieces, ends = np.concatenate(apart), np.zeros(len(sizes) + 1, np.int64)
        sizes.cumsum(out=ends[1:])
        shares = np.zeros((len(texts), len(targets)))
        for column, target in zip(shares.T, map(self._taken_apart, targets), strict=True):
            bounds = _members(pieces, target).searchsorted(ends)
            column[:] = (bounds[1:] - bounds[:-1]) / np.maximum(np.minimum(sizes, len(target)), 1)
        rows, columns = (shares >= self._least).nonzero()
        return list(zip(rows.tolist(), columns.tolist(), strict=True))

    def _taken_apart(self, text: str) -> _Pieces:
        if (known := self._pieces.get(text)) is None:
            known = self._pieces[text] = _pieces(folded(text).replace(" ", ""))
            self.size += known.nbytes
        return known


def _pieces(letters: str) -> _Pieces:
    """All runs of a few letters, each as one number; languages without spaces have them, too."""
    codes = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    runs = np.zeros(max(len(codes) - _PIECE + 1, 0), np.uint64)
    for offset in range(_PIECE):
        # Whatever leaves the 64 bits is lost; for two runs to meet by that is next to impossible.
        runs = runs * _SPREAD + codes[offset : offset + len(runs)]
    runs.sort()
    is_new = np.ones(len(runs), np.bool_)
    is_new[1:] = runs[1:] != runs[:-1]
    return runs[is_new]


def _members(pieces: _Pieces, target: _Pieces) -> NDArray[np.intp]:
    """Places in `pieces` of those that the target has, too.

    Most have not: a table of the targets' first bits tells, faster than a search for each.
    """
    table = np.zeros(1 << _FIRST_BITS, np.bool_)
    table[target >> _OTHER_BITS] = True
    likely = table[pieces >> _OTHER_BITS].nonzero()[0]
    found = pieces[likely]
    places = np.minimum(target.searchsorted(found), len(target) - 1)
    members: NDArray[np.intp] = likely[target[places] == found] if len(likely) else likely
    return members


def cosines(
    encoder: Encoder, pairs: Sequence[Pair], progress: Callable[[int, int], None]
) -> NDArray[np.float32]:
    """The cosine of every pair, [len(pairs)]; each distinct text is embedded once."""
    distinct = dict.fromkeys(text for pair in pairs for text in pair)
    if not distinct:
        return np.zeros(0, np.float32)
    # Like lengths together: an encoder's batches then hold little padding.
    place = {text: i for i, text in enumerate(sorted(distinct, key=len, reverse=True))}
    vectors = _unit_vectors(encoder, list(place), progress)
    left = [place[text] for text, _ in pairs]
    right = [place[target] for _, target in pairs]
    found = np.empty(len(pairs), np.float32)
    for start in range(0, len(pairs), _BLOCK):
        block = slice(start, start + _BLOCK)
        found[block] = (vectors[left[block]] * vectors[right[block]]).sum(axis=1)
    return found


def _unit_vectors(
    encoder: Encoder, texts: Sequence[str], progress: Callable[[int, int], None]
) -> Floats:
    blocks: list[Floats] = []
    # Both sides are embedded as documents: a prefix for queries would pull equal texts apart.
    for start in range(0, len(texts), _BLOCK):
        blocks.append(encoder.encode(texts[start : start + _BLOCK], "document"))
        progress(min(start + _BLOCK, len(texts)), len(texts))
    vectors = np.concatenate(blocks)
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
