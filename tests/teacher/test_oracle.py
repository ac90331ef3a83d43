from __future__ import annotations

from dataclasses import replace
from itertools import chain, permutations

import numpy as np
import pytest

from enough.errors import ConfigError
from enough.generators.fake import FakeGenerator
from enough.prompts.profile_sequences import Profile
from enough.teacher.backup import best_leaves
from enough.teacher.components import (
    Components,
    Scale,
    TargetConfig,
    raw_components,
    scaled_components,
)
from enough.teacher.oracle import (
    bounded_choice,
    exact_tree,
    exact_values,
    greedy,
    minimal_sufficient,
    reduced,
)
from enough.teacher.oracle_config import OracleConfig, profile_count
from enough.teacher.proposals import SearchConfig
from enough.teacher.specificity import SpecificityConfig
from enough.teacher.supervision import TeacherConfig, supervise
from tests.teacher.cases import make_case, make_subject, random_score, tree_of_values

SCALE = Scale(1.0, 0.5)
EVERY: list[Profile] = list(
    chain.from_iterable(permutations(range(6), length) for length in range(5))
)
HAND = tree_of_values(
    {(): -4.0, (0,): -3.5, (1,): -3.0, (0, 1): -2.875, (1, 0): -2.9375}, (100, 300), 2
)
"""U = 0, .5, 1, 1.125, 1.0625 and 0, 100, 300, 400, 400 tokens, where p = 0 and s = 1."""


def test_all_517_profiles_of_six_candidates() -> None:
    tree = exact_tree(make_subject(make_case(6)), OracleConfig(), FakeGenerator().score)
    assert len(EVERY) == len(tree.profiles) == profile_count(6, 4) == 517
    assert tree.profiles == EVERY


def test_a_teacher_whose_beams_end_early_ends_nothing_here() -> None:
    config = OracleConfig(search=SearchConfig(levels=1, roots=()))
    tree = exact_tree(make_subject(make_case(6)), config, FakeGenerator().score)
    assert tree.profiles == EVERY
    assert config.bounded("one").search.levels == 1, "the one that is compared stays as it is"


@pytest.mark.parametrize(("slots", "expected"), [("all", 6 + 60 + 360 + 1440), ("one", 516)])
def test_all_slots_or_one_are_looked_at(slots: str, expected: int) -> None:
    config = OracleConfig(slots=slots)  # type: ignore[arg-type]
    tree = exact_tree(make_subject(make_case(6)), config, FakeGenerator().score)
    assert len(tree.slots.node) == expected  # every record of this case helps
    assert tree.slots.counts_for.all()


@pytest.mark.parametrize("filled", [(), (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)])
@pytest.mark.parametrize("missing", [0, 1])
def test_the_window_forbids_some(filled: Profile, missing: int) -> None:
    case = make_case(6)
    tokens = make_subject(case).space.budget.record_tokens
    room = max(0, sum(tokens[place] for place in filled) - missing)
    tree = exact_tree(make_subject(case, room=room), OracleConfig(), FakeGenerator().score)
    assert tree.profiles == [p for p in EVERY if sum(tokens[place] for place in p) <= room]
    assert len(tree.profiles) < 517
    assert (filled in tree.profiles) == (not missing or not filled)


@pytest.mark.parametrize(
    ("size", "unmatched"),
    [
        (0, ()),
        (1, ()),
        (3, ()),
        (3, (0, 1, 2)),
    ],
)
def test_pools_may_be_smaller_or_unmatched(size: int, unmatched: tuple[int, ...]) -> None:
    config, case = OracleConfig(), make_case(size, unmatched=unmatched)
    tree = exact_tree(make_subject(case), config, random_score)
    assert len(tree.profiles) == profile_count(size, 4)
    exact = exact_values(tree, scaled_components(tree, SCALE), config.targets, 0.1)
    assert exact.value[0] == exact.net.max()


def test_it_agrees_with_a_bounded_tree_that_is_complete() -> None:
    subject, config = make_subject(make_case(6)), OracleConfig()
    search = SearchConfig(roots=("random", "recency"), actions=6, width=120, seed=5)
    teacher = TeacherConfig(search, SpecificityConfig("all"))
    bounded = supervise([subject], teacher, random_score)[0].tree
    tree = exact_tree(subject, config, random_score)
    assert tree.profiles == bounded.profiles
    assert (tree.log_likelihood == bounded.log_likelihood).all()
    values = [scaled_components(one, SCALE).net(TargetConfig(0.4, 0.1)) for one in (tree, bounded)]
    assert (values[0] == values[1]).all()
    exact = exact_values(tree, scaled_components(tree, SCALE), config.targets, 0.1)
    assert (exact.leaf == best_leaves(bounded.parents, bounded.lengths, values[1])).all()


def test_scales_are_measured_where_the_bounded_teacher_measures_them() -> None:
    subject, config = make_subject(make_case(6)), OracleConfig()
    tree = exact_tree(subject, config, random_score)
    bounded = supervise([subject], config.bounded("all"), random_score)[0].tree
    initial = [
        {p for p, first in zip(one.profiles, one.is_initial, strict=True) if first}
        for one in (tree, bounded)
    ]
    assert initial[0] == initial[1]


@pytest.mark.parametrize("slots", ["one", "all"])
@pytest.mark.parametrize("request_id", ["a", "b", "c"])
def test_a_bounded_search_played_again_is_the_search(slots: str, request_id: str) -> None:
    case = make_case(6, request=request_id, unmatched=(2,), visited=((4, 1),))
    subject, point = make_subject(case, room=110), TargetConfig()
    config = OracleConfig(search=SearchConfig(width=1, roots=("random",)))
    teacher = config.bounded(slots)  # type: ignore[arg-type]
    tree = exact_tree(subject, config, random_score)
    exact = exact_values(tree, scaled_components(tree, SCALE), point, 0.1)
    searched = supervise([subject], teacher, random_score)[0].tree
    net = scaled_components(searched, SCALE).net(point)
    expected = searched.profiles[best_leaves(searched.parents, searched.lengths, net)[0]]
    assert len(searched.profiles) < len(tree.profiles)
    assert bounded_choice(exact, subject, teacher, SCALE, point) == expected


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [(0.0, (0, 1)), (0.0625, (0, 1)), (0.125, (1,)), (0.625, (0,)), (1.125, ())],
)
def test_msp_by_hand(epsilon: float, expected: Profile) -> None:
    assert HAND.profiles[minimal_sufficient(raw_components(HAND), 0.4, epsilon)] == expected


def test_msp_counts_specificity_and_breaks_ties_by_utility_then_order() -> None:
    def minimal(gain: list[float], specificity: list[float], epsilon: float) -> int:
        cost = np.array([0, 1, 1, 1, 2]) / 10
        known = np.ones(5, np.bool_)
        found = Components(np.array(gain), np.array(specificity), cost, known)
        return minimal_sufficient(found, beta=0.5, epsilon=epsilon)

    assert minimal([0, 1, 2, 2, 2], [0, 0, 0, 0, 0], 0.5) == 2  # two alike: the first
    assert minimal([0, 1, 2, 2, 2], [0, 0, 0, 1, 0], 0.5) == 3  # U = 2.5, not 2
    assert minimal([0, 1, 1, 1, 1], [0, 0, 0, 0, 3], 0.5) == 4  # U* = 2.5, the others lack 1.5
    assert minimal([0, -1, -2, -3, -4], [0, 0, 0, 0, 0], 0.5) == 0


@pytest.mark.parametrize(
    ("lambda_", "expected", "net"),
    [
        (0.0, (0, 1), 1.125),
        (1.0, (0, 1), 1.125 - 400 / 1024),
        (2.0, (1,), 1 - 2 * 300 / 1024),
        (10.0, (), 0.0),
    ],
)
def test_net_objective_by_hand(lambda_: float, expected: Profile, net: float) -> None:
    exact = exact_values(HAND, raw_components(HAND), TargetConfig(0.4, lambda_), 0.125)
    assert HAND.profiles[exact.best] == expected
    assert exact.net[exact.best] == exact.value[0] == net
    assert exact.utility.tolist() == [0, 0.5, 1, 1.125, 1.0625]
    assert HAND.profiles[exact.minimal] == (1,)  # whatever λ is


def test_bellman_by_hand() -> None:
    """λ = 2: J = 0, .305, .414, .344, .281, so (0) leads to (0, 1) and (1) is where to stop."""
    exact = exact_values(HAND, raw_components(HAND), TargetConfig(0.4, 2.0), 0.1)
    assert [HAND.profiles[leaf] for leaf in exact.leaf] == [(1,), (0, 1), (1,), (0, 1), (1, 0)]
    assert exact.value.tolist() == exact.net[[2, 3, 2, 3, 4]].tolist()


def test_a_myopic_teacher_stops_before_what_only_two_records_can_do() -> None:
    tree = tree_of_values({(): -4.0, (0,): -4.0, (1,): -4.5, (0, 1): -3.0, (1, 0): -3.5}, (8, 8), 2)
    exact = exact_values(tree, raw_components(tree), TargetConfig(0.4, 0.0), 0.1)
    assert tree.profiles[greedy(exact, exact.value)] == tree.profiles[exact.best] == (0, 1)
    # (0) is no better than nothing, and a tie is STOP's.
    assert tree.profiles[greedy(exact, exact.net)] == ()


def test_a_case_is_reduced_to_its_first_candidates() -> None:
    case = make_case(8, visited=((6, 2), (1, 0), ()))
    small = reduced(case, 5)
    assert small.pool == case.pool[:5]
    assert small.numbered_records == case.numbered_records[:5] + case.numbered_records[8:18]
    assert small.control_numbers == [range(5 + 2 * i, 7 + 2 * i) for i in range(5)]
    assert small.recency == (4, 3, 2, 1, 0)
    assert small.diversity == (0, 2, 4, 1, 3)
    assert small.likeness.tolist() == case.likeness[:5, :5].tolist()
    assert small.visited == ((1, 0), ())
    assert reduced(small, 9).pool == small.pool


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pool": 0}, "pool must be at least 1"),
        ({"max_records": 0}, "max_records must be at least 1"),
        ({"requests": -1}, "requests must be at least 0"),
        ({"epsilon": -0.1}, "epsilon must not be negative"),
        ({"epsilon": float("nan")}, "epsilon must not be negative"),
        ({"pool": 20}, "123,521 profiles of at most 4 records"),
    ],
)
def test_settings_are_checked(changes: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(OracleConfig(), **changes)  # type: ignore[arg-type]
