"""Interventions on hand-made profiles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.diagnostics.personal.intervention_profiles import (
    matched_other,
    permuted_owners,
    shuffled,
    shuffled_actions,
    unchanged,
)
from tests.conftest import make_record

OWN = (make_record(1, action="a"), make_record(2, action="b"))
CONTROLS = tuple(
    tuple(make_record(n, owner=f"other{n}", action=f"c{n}") for n in some)
    for some in ((11, 12), (21, 22))
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=8), st.integers(0, 50))
def test_actions_are_permuted_and_none_stays_where_that_can_be(
    actions: list[str], seed: int
) -> None:
    found = shuffled_actions(actions, [], rng(seed))
    most = max(map(actions.count, actions))
    stayed = sum(one == other for one, other in zip(actions, found, strict=True))
    assert sorted(found) == sorted(actions)
    assert stayed == max(0, 2 * most - len(actions))


def test_what_cannot_be_exchanged_gets_another_action_of_the_user() -> None:
    assert shuffled_actions(["5"], ["5", "3"], rng()) == ["3"]
    assert shuffled_actions(["5"], ["5"], rng()) == ["5"]
    assert shuffled_actions(["Five", "five "], ["five", "two"], rng()) == ["two", "two"]
    # Two of the three fives can at most be exchanged for the four, so two get the spare one.
    found = shuffled_actions(["5", "5", "5", "4"], ["1"], rng())
    assert sorted(found) == ["1", "1", "4", "5"] and found[3] == "5"


def test_contexts_stay_when_actions_are_shuffled() -> None:
    found = shuffled(OWN, [], rng())
    assert [(r.context, r.action) for r in found] == [(OWN[0].context, "b"), (OWN[1].context, "a")]
    assert unchanged(OWN, found) == 0 and unchanged(OWN, OWN) == 2


def test_every_record_is_replaced_by_one_of_its_own_controls() -> None:
    seen = set()
    for seed in range(30):
        one, other = matched_other(CONTROLS, rng(seed))
        assert one in CONTROLS[0] and other in CONTROLS[1]
        seen.add((one.id, other.id))
    assert len(seen) == 4


def test_a_control_of_two_records_is_taken_once_where_that_can_be() -> None:
    shared, own = CONTROLS[0]
    for seed in range(10):
        one, other = matched_other(((shared,), (shared, own)), rng(seed))
        assert (one, other) == (shared, own)
    assert matched_other(((shared,), (shared,)), rng()) == (shared, shared)


def test_permuted_sides_are_of_the_same_place_and_never_the_same_record() -> None:
    for seed in range(30):
        first, second = permuted_owners(OWN, CONTROLS, rng(seed))
        for place, pair in enumerate(zip(first, second, strict=True)):
            assert pair[0] != pair[1]
            assert set(pair) <= {OWN[place], *CONTROLS[place]}


def test_the_own_record_is_called_own_no_more_often_than_any_other() -> None:
    draws = [permuted_owners(OWN, CONTROLS, rng(seed)) for seed in range(600)]
    called_own = np.mean([first[0] == OWN[0] for first, _ in draws])
    called_other = np.mean([second[0] == OWN[0] for _, second in draws])
    assert called_own == pytest.approx(1 / 3, abs=0.06)
    assert called_other == pytest.approx(1 / 3, abs=0.06)
