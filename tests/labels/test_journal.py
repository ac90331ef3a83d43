"""Finished calls survive anything; torn ones are cut off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.labels.journal import Journal, call_key
from enough.labels.scoring_calls import CallReport, ScoringCalls
from enough.protocols import ScoredSequence
from tests.labels.runs import SlowGenerator

KEYS = [bytes([i]) * 16 for i in range(3)]
SCORES = [np.array([0.1, -2.0]), np.array([-1 / 3]), np.array([5.0, 6.0, 7.0])]


def written(path: Path) -> bytes:
    with Journal(path) as journal:
        for key, scores in zip(KEYS, SCORES, strict=True):
            journal.put(key, scores)
    return path.read_bytes()


def test_what_was_put_is_there_bit_for_bit(tmp_path: Path) -> None:
    written(tmp_path / "j")
    with Journal(tmp_path / "j") as journal:
        for key, scores in zip(KEYS, SCORES, strict=True):
            found = journal.get(key)
            assert found is not None
            assert found.tobytes() == scores.tobytes()
        assert journal.get(b"x" * 16) is None


@given(cut=st.integers(0, 132))
def test_cut_off_anywhere_it_keeps_whole_entries_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "j"
    whole = written(path)
    assert len(whole) == 132
    path.write_bytes(whole[:cut])
    with Journal(path) as journal:
        known = [journal.get(key) is not None for key in KEYS]
        assert known == sorted(known, reverse=True)
        journal.put(KEYS[2], SCORES[2])
    with Journal(path) as journal:
        last = journal.get(KEYS[2])
        assert last is not None
        assert last.tolist() == SCORES[2].tolist()


def test_a_damaged_entry_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "j"
    raw = bytearray(written(path))
    raw[30] ^= 1
    path.write_bytes(bytes(raw))
    with Journal(path) as journal:
        assert journal.get(KEYS[0]) is None


def test_a_key_names_the_call_and_the_generator() -> None:
    one, other = sequence(1, 2, 3), sequence(1, 2, 4)
    keys = {
        call_key("g", [one]),
        call_key("g", [other]),
        call_key("g", [one, other]),
        call_key("h", [one]),
        call_key("g", [ScoredSequence(one.tokens, 2)]),
    }
    assert len(keys) == 5


def sequence(*tokens: int) -> ScoredSequence:
    return ScoredSequence(np.array(tokens, np.int32), 1)


SEQUENCES = [sequence(*range(1, 30), i, *range(100, 100 + i)) for i in range(40)]


def test_calls_are_scored_once_and_found_again(tmp_path: Path) -> None:
    generator, reports = SlowGenerator(), list[CallReport]()
    with Journal(tmp_path / "j") as journal:
        first = ScoringCalls(generator, journal, reports.append).score(SEQUENCES)
    made = generator.calls
    assert made > 1
    assert not any(report.from_journal for report in reports)
    with Journal(tmp_path / "j") as journal:
        again = ScoringCalls(generator, journal, reports.append).score(SEQUENCES)
    assert generator.calls == made
    assert first.tobytes() == again.tobytes()
    assert all(report.from_journal for report in reports[made:])


def test_equal_sequences_are_scored_once(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        calls = ScoringCalls(SlowGenerator(), journal)
        scores = calls.score([SEQUENCES[1], SEQUENCES[2], SEQUENCES[1]])
        assert scores[0] == scores[2]
        assert (calls.profiles, calls.repeated) == (2, 1)


def test_calls_depend_on_the_sequences_not_on_their_order(tmp_path: Path) -> None:
    scores = []
    for name, order in (("a", range(40)), ("b", range(39, -1, -1))):
        with Journal(tmp_path / name) as journal:
            found = ScoringCalls(SlowGenerator(), journal).score([SEQUENCES[i] for i in order])
        scores.append(found[list(order)])
    assert scores[0].tobytes() == scores[1].tobytes()


def test_nothing_to_score(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        assert ScoringCalls(SlowGenerator(), journal).score([]).shape == (0,)
