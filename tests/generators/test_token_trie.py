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


def test_a_pack_goes_on_where_the_one_before_left_off() -> None:
    sequences = [
        ScoredSequence(np.array([1, 2, 3, 9], np.int32), 1),
        ScoredSequence(np.array([1, 2, 4, 5, 9], np.int32), 1),
    ]
    first, second = packs(sequences, max_tokens=3)
    assert first.tokens.tolist() == [1, 2, 3]
    assert first.kept.tolist() == [0, 1]
    assert (second.carried, second.tokens.tolist()) == (2, [4, 5])
    assert second.path(0).tolist() == [0, 1, 2, 3]
    assert second.positions.tolist() == [2, 3]


def test_rows_that_predict_a_reference_are_never_carried() -> None:
    # The second sequence's reference begins inside the path of the first.
    sequences = [
        ScoredSequence(np.array([1, 2, 3, 4, 9], np.int32), 1),
        ScoredSequence(np.array([1, 2, 3, 4, 5, 9], np.int32), 4),
    ]
    first, second = packs(sequences, max_tokens=4)
    assert (second.carried, second.tokens.tolist()) == (1, [2, 3, 4, 5])
    assert first.kept.tolist() == [0]


@given(profile_trees(vocabulary=4), st.integers(1, 200))
def test_packs_hold_every_sequence_and_say_where_its_keys_are(
    sequences: list[ScoredSequence], max_tokens: int
) -> None:
    seen: list[int] = []
    kept = (np.zeros(0, np.int32), np.zeros(0, np.int64))  # tokens and positions of the last path
    for pack in packs(sequences, max_tokens):
        members = [sequences[i] for i in pack.members]
        seen += pack.members.tolist()
        assert len(kept[0]) == pack.carried
        tokens = np.concatenate([kept[0], pack.tokens])
        positions = np.concatenate([kept[1], pack.positions])
        for i, sequence in enumerate(members):
            path = pack.path(i)
            np.testing.assert_array_equal(tokens[path], input_tokens(sequence))
            np.testing.assert_array_equal(positions[path], np.arange(len(path)))
            assert (path[-sequence.reference_length :] >= pack.carried).all()
        assert len(pack.tokens) <= max_tokens or len(set(map(_key, members))) == 1
        kept = (tokens[pack.kept], positions[pack.kept])
    assert sorted(seen) == list(range(len(sequences)))


@given(profile_trees(vocabulary=101))
def test_small_packs_compute_no_token_twice(sequences: list[ScoredSequence]) -> None:
    """With a large vocabulary, references never begin inside a shared path by accident."""
    short = [
        ScoredSequence(s.tokens, 1) for s in {s.tokens.tobytes(): s for s in sequences}.values()
    ]
    computed = sum(len(pack.tokens) for pack in packs(short, 40))
    assert computed == distinct_tokens(short)


@given(profile_trees(vocabulary=4))
def test_distinct_tokens_are_the_tries(sequences: list[ScoredSequence]) -> None:
    assert distinct_tokens(sequences) == brute_force_distinct(sequences)


def test_nothing_to_pack() -> None:
    assert list(packs([], 10)) == []


def _key(sequence: ScoredSequence) -> bytes:
    return input_tokens(sequence).tobytes()
