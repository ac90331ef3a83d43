"""Trees on disk: what was written is read, equal trees are equal bytes, wrong files are named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from enough.errors import DataError
from enough.labels.tree_files import (
    ChunkCounts,
    Fingerprints,
    Part,
    load_columns,
    read_part,
    write_part,
)
from enough.teacher.proposals import SearchConfig
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.supervision import TeacherConfig
from tests.teacher.cases import RandomScores, make_case, make_subject, supervised

COUNTS = ChunkCounts(1, 2, 3, 4, 5, 6, 7)
MADE_WITH = Fingerprints("g", "t", "e")


def tree(pool: int, unmatched: tuple[int, ...] = ()) -> ScoredTree:
    subject = make_subject(make_case(pool, request=f"q{pool}", unmatched=unmatched))
    config = TeacherConfig(SearchConfig(max_records=3, actions=2, width=2))
    return supervised(subject, config, RandomScores(pool))[0].tree


def part(*trees: ScoredTree) -> Part:
    return Part(trees, ("too long",), COUNTS, np.array([1e-6], np.float32), MADE_WITH)


@pytest.mark.parametrize(
    "trees",
    [
        (),
        (tree(6),),
        (tree(0), tree(3), tree(5)),  # an empty pool, and different sizes
        (tree(4, unmatched=(0, 1, 2, 3)), tree(5)),
    ],
)
def test_what_was_written_is_read(tmp_path: Path, trees: tuple[ScoredTree, ...]) -> None:
    write_part(tmp_path / "a.safetensors", part(*trees))
    found = read_part(tmp_path / "a.safetensors")
    assert (found.left_out, found.counts, found.made_with) == (("too long",), COUNTS, MADE_WITH)
    assert [one.of for one in found.trees] == [one.of for one in trees]
    for one, expected in zip(found.trees, trees, strict=True):
        assert one.profiles == expected.profiles
        assert one.log_likelihood.tobytes() == expected.log_likelihood.tobytes()
        assert (one.is_initial == expected.is_initial).all()
        for name in ("node", "slot", "without", "counts_for"):
            got, wanted = getattr(one.slots, name), getattr(expected.slots, name)
            assert (got == wanted).all(), name
        if len(expected.slots.node):
            assert (one.slots.controls == expected.slots.controls).all()


def test_equal_trees_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_part(tmp_path / name, part(tree(3), tree(5)))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "LaMP-7-00000.safetensors"
    write_part(path, part(tree(3)))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"LaMP-7-00000\.safetensors: cannot be read"):
        read_part(path)


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enough.labels.tree_files.FORMAT", 99)
    write_part(tmp_path / "a", part(tree(3)))
    monkeypatch.undo()
    with pytest.raises(DataError, match="label format 99"):
        read_part(tmp_path / "a")


def test_bytes_per_profile_stay_small(tmp_path: Path) -> None:
    big = tree(12)
    write_part(tmp_path / "a", part(big))
    columns, _ = load_columns(tmp_path / "a")
    assert sum(column.nbytes for column in columns.values()) < 40 * len(big.lengths)


def test_costs_and_parents_of_a_tree() -> None:
    small = dataclasses.replace(tree(3))
    tokens = small.of.record_tokens
    for profile, cost, parent in zip(small.profiles, small.cost, small.parents, strict=True):
        assert cost == sum(tokens[place] for place in profile) / 1024
        if parent >= 0:
            assert small.profiles[parent] == profile[:-1]
