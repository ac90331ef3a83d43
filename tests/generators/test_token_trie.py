from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from enough.generators.token_trie import distinct_tokens, input_tokens, packs
from enough.protocols import ScoredSequence
from tests.generators.trees import profile_trees


def brute_force_distinct(sequences: list[ScoredSequence]) -> int:
    prefixes = set()
    for sequence in sequences:
        tokens = tuple(input_tokens(sequence).tolist())
        prefixes |= {tokens[: i + 1] for i in range(len(tokens))}
    return len(prefixes)


def test_by_hand() -> None:
    # 1 2 3 (9) / 1 2 4 5 (9) / 1 2 (9): the last token of each is not an input.
    sequences = [
        ScoredSequence(np.array([1, 2, 4, 5, 9], np.int32), 1),
        ScoredSequence(np.array([1, 2, 3, 9], np.int32), 1),
        ScoredSequence(np.array([1, 2, 9], np.int32), 1),
    ]
    (pack,) = packs(sequences, max_tokens=100)
    assert pack.members.tolist() == [2, 1, 0]
    assert pack.tokens.tolist() == [1, 2, 3, 4, 5]
    assert pack.positions.tolist() == [0, 1, 2, 2, 3]
    assert pack.query_starts.tolist() == [0, 2, 3, 5]
    assert [pack.path(i).tolist() for i in range(3)] == [[0, 1], [0, 1, 2], [0, 1, 3, 4]]


@given(profile_trees(vocabulary=4), st.integers(1, 200))
def test_packs_hold_every_sequence_and_no_token_twice(
    sequences: list[ScoredSequence], max_tokens: int
) -> None:
    seen: list[int] = []
    for pack in packs(sequences, max_tokens):
        members = [sequences[i] for i in pack.members]
        seen += pack.members.tolist()
        for i, sequence in enumerate(members):
            np.testing.assert_array_equal(pack.tokens[pack.path(i)], input_tokens(sequence))
            np.testing.assert_array_equal(
                pack.positions[pack.path(i)], np.arange(len(pack.path(i)))
            )
        assert len(pack.tokens) == brute_force_distinct(members)
        assert len(pack.tokens) <= max_tokens or len(set(map(_key, members))) == 1
    assert sorted(seen) == list(range(len(sequences)))


@given(profile_trees(vocabulary=4))
def test_distinct_tokens_are_the_tries(sequences: list[ScoredSequence]) -> None:
    assert distinct_tokens(sequences) == brute_force_distinct(sequences)


def test_nothing_to_pack() -> None:
    assert list(packs([], 10)) == []


def _key(sequence: ScoredSequence) -> bytes:
    return input_tokens(sequence).tobytes()
