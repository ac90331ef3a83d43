"""Many sequences laid out so that each distinct token stands once.

In: token sequences that share prefixes (one request's profiles, or several requests').
Out: `Pack`s: the sequences in sorted order, each contributing only what follows its longest common
prefix with the one before. That is a depth-first walk of their token trie. A sequence's new tokens
attend to its whole path, which `key_index` points out: "the last q tokens of a sequence of k", the
shape that variable-length attention kernels know as chunked prefill.

The last token of a sequence predicts nothing that is asked for, so it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from enough.errors import ModelError
from enough.protocols import ScoredSequence, Tokens

Index = NDArray[np.int64]
_KEYS_PER_TOKEN = 16  # bounds the memory for gathered paths; trees of profiles need about four


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """Sequences that are computed together, going on from the pack before.

    Keys are numbered through: first the `carried` tokens of the path that the pack before left off
    at, then this pack's own tokens.

    Attributes:
        members: positions of the sequences in the caller's list, in sorted order, [s].
        carried: how many tokens of its first sequence the pack before has already computed.
        tokens: the tokens to compute, [t].
        positions: depth of each token in its sequence, [t].
        query_starts: sequence i brought in tokens[query_starts[i]:query_starts[i + 1]], [s + 1].
        key_index: for each sequence the keys of all its tokens, joined, [sum of lengths].
        key_starts: where each sequence's part of `key_index` begins, [s + 1].
        kept: keys of the path that the next pack goes on from.
    """

    members: Index
    carried: int
    tokens: Tokens
    positions: Index
    query_starts: Index
    key_index: Index
    key_starts: Index
    kept: Index

    def path(self, sequence: int) -> Index:
        """Keys of all tokens of one sequence."""
        return self.key_index[self.key_starts[sequence] : self.key_starts[sequence + 1]]


def input_tokens(sequence: ScoredSequence) -> Tokens:
    """What the model has to read to score the sequence."""
    return sequence.tokens[:-1]


def require_fitting(sequences: Sequence[ScoredSequence], window: int) -> None:
    """Refuse a sequence without a reference or a prompt, or beyond the window."""
    for sequence in sequences:
        if not 0 < sequence.reference_length < len(sequence.tokens) <= window:
            raise ModelError(
                f"a sequence of {len(sequence.tokens)} tokens with a reference of "
                f"{sequence.reference_length} cannot be scored in a window of {window}"
            )


def sorted_with_overlaps(sequences: Sequence[ScoredSequence]) -> tuple[Index, Index]:
    """Order of the sequences by their tokens, and each one's overlap with the one before it.

    Returns:
        order [n], and overlap [n]: the length of the common prefix of the inputs of order[i - 1]
        and order[i]; overlap[0] is 0.
    """
    # Big-endian bytes compare like the numbers they spell.
    spelled = [input_tokens(s).astype(">u4").tobytes() for s in sequences]
    order = np.array(sorted(range(len(sequences)), key=spelled.__getitem__), np.int64)
    overlap = np.zeros(len(order), np.int64)
    for i in range(1, len(order)):
        overlap[i] = common_prefix(
            input_tokens(sequences[order[i - 1]]), input_tokens(sequences[order[i]])
        )
    return order, overlap


def common_prefix(left: Tokens, right: Tokens) -> int:
    """Length of the longest common prefix."""
    shared = min(len(left), len(right))
    differs = left[:shared] != right[:shared]
    return int(differs.argmax()) if differs.any() else shared


def distinct_tokens(sequences: Sequence[ScoredSequence]) -> int:
    """How many tokens a scorer must compute when every shared one is computed once."""
    order, overlap = sorted_with_overlaps(sequences)
    return int(sum(len(input_tokens(sequences[i])) for i in order) - overlap.sum())


def packs(sequences: Sequence[ScoredSequence], max_tokens: int) -> Iterator[Pack]:
    """Split the trie of all sequences into packs of at most `max_tokens` tokens to compute.

    No token is computed twice, unless a reference begins inside a path that is already computed:
    its rows are wanted, so it is run again. A sequence beyond the limit gets a pack of its own.
    """
    order, overlap = sorted_with_overlaps(sequences)
    cuts = _cuts(sequences, order, overlap, max_tokens)
    for (start, carried), (end, next_carried) in pairwise([*cuts, (len(order), 0)]):
        yield _pack(sequences, order[start:end], overlap[start:end], carried, next_carried)


def _cuts(
    sequences: Sequence[ScoredSequence], order: Index, overlap: Index, max_tokens: int
) -> list[tuple[int, int]]:
    """Where packs begin, and how much of a path each takes over from the pack before."""
    cuts: list[tuple[int, int]] = []
    size, keys, shared = 0, 0, 0
    for i, which in enumerate(order):
        length = len(input_tokens(sequences[which]))
        first_row = length - sequences[which].reference_length
        fresh = length - int(overlap[i])
        shared = min(shared, int(overlap[i]))  # with the first sequence of the pack
        rows_missing = bool(cuts) and min(shared, cuts[-1][1]) > first_row
        full = size + fresh > max_tokens or keys + length > _KEYS_PER_TOKEN * max_tokens
        if not cuts or rows_missing or full:
            carried = min(int(overlap[i]), first_row)
            cuts.append((i, carried))
            size, keys, shared, fresh = 0, 0, length, length - carried
        size += fresh
        keys += length
    return cuts


def _pack(
    sequences: Sequence[ScoredSequence],
    members: Index,
    overlap: Index,
    carried: int,
    next_carried: int,
) -> Pack:
    tokens: list[Tokens] = []
    paths: list[Index] = []
    positions: list[Index] = []
    total = carried
    for place, which in enumerate(members):
        inputs = input_tokens(sequences[which])
        shared = int(overlap[place]) if place else carried
        fresh = len(inputs) - shared
        tokens.append(inputs[shared:])
        positions.append(np.arange(shared, len(inputs)))
        before = paths[-1][:shared] if place else np.arange(carried)
        paths.append(np.concatenate([before, np.arange(total, total + fresh)]))
        total += fresh
    return Pack(
        members=members,
        carried=carried,
        tokens=np.concatenate(tokens),
        positions=np.concatenate(positions),
        query_starts=_starts(tokens),
        key_index=np.concatenate(paths),
        key_starts=_starts(paths),
        kept=paths[-1][:next_carried],
    )


def _starts(parts: Sequence[NDArray[np.generic]]) -> Index:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)
