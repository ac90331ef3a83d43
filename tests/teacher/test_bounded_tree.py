"""The bounded tree: exact where nothing is bounded, and within its budgets where something is.

Golden trees lie in `golden/`. They change only when what a search looks at changes; write them anew
with `python -m tests.teacher.test_bounded_tree` and say why in the commit.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from itertools import chain, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from enough.generators.fake import FakeGenerator
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import L_REF
from enough.teacher.backup import Targets, back_up
from enough.teacher.components import Scale, TargetConfig, scaled_components
from enough.teacher.proposals import (
    SearchConfig,
    proposed_actions,
    root_profiles,
    visited_profiles,
)
from enough.teacher.scored_tree import ScoredTree, blind_part
from enough.teacher.specificity import SpecificityConfig
from enough.teacher.supervision import Subject, TeacherConfig, supervise
from tests.teacher.cases import RandomScores, make_case, make_subject, supervised

GOLDEN = Path(__file__).parent / "golden"
SEEDS = (0, 1, 2)
BETA, LAMBDA, SCALE = 0.4, 0.1, Scale(1.3, 0.7)
SMALL = SearchConfig(max_records=4, actions=3, width=2)


class BruteForce:
    """J, V* and Q* by recursion over all ordered profiles, straight from the paper."""

    def __init__(self, subject: Subject, scores: Mapping[Profile, float]) -> None:
        self._budget = subject.space.budget
        self._controls = subject.space.case.control_numbers
        self._scores = scores

    def tokens(self, profile: Profile) -> int:
        return sum(self._budget.record_tokens[place] for place in profile)

    def legal(self, profile: Profile) -> bool:
        fits = self.tokens(profile) <= self._budget.max_profile_tokens
        return fits and len(profile) <= self._budget.max_records

    def specificity(self, profile: Profile) -> float:
        if self._scores[profile] <= self._scores[()]:
            return 0.0
        slots = []
        for slot, place in enumerate(profile):
            before, after = profile[:slot], profile[slot + 1 :]
            without = self._scores[before + after]
            own = max(self._scores[profile] - without, 0)
            others = [
                max(self._scores[(*before, number, *after)] - without, 0)
                for number in self._controls[place]
            ]
            slots.append(own - sum(others) / len(others))
        return sum(slots) / len(slots)

    def net(self, profile: Profile) -> float:
        gain = self._scores[profile] - self._scores[()]
        utility = gain / SCALE.gain + BETA * self.specificity(profile) / SCALE.specificity
        return utility - LAMBDA * self.tokens(profile) / L_REF

    def children(self, profile: Profile) -> list[Profile]:
        places = range(len(self._budget.record_tokens))
        grown = [(*profile, place) for place in places if place not in profile]
        return [child for child in grown if self.legal(child)]

    def value(self, profile: Profile) -> float:
        return max([self.net(profile), *(self.value(child) for child in self.children(profile))])


def net_of(components: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """J from (g, p, c)."""
    return np.asarray(components @ np.array([1, BETA, -LAMBDA]))


def backed_up(tree: ScoredTree) -> Targets:
    return back_up(tree, scaled_components(tree, SCALE), TargetConfig(BETA, LAMBDA))


@pytest.mark.parametrize("room", [None, 90])
@pytest.mark.parametrize("seed", range(6))
def test_bellman_values_are_those_of_brute_force(seed: int, room: int | None) -> None:
    subject = make_subject(make_case(4), 3, room=room)
    scores = RandomScores(seed)
    search = SearchConfig(max_records=3, actions=4, width=sys.maxsize, seed=seed)
    found, _ = supervised(subject, TeacherConfig(search, SpecificityConfig("all")), scores)
    exact, targets = BruteForce(subject, scores), backed_up(found.tree)
    profiles = found.tree.profiles
    every = chain.from_iterable(permutations(range(4), length) for length in range(4))
    assert profiles == [profile for profile in every if exact.legal(profile)]
    assert (len(profiles) == 41) == (room is None)
    assert net_of(targets.own) == pytest.approx([exact.net(p) for p in profiles], abs=1e-5)
    assert net_of(targets.best) == pytest.approx([exact.value(p) for p in profiles], abs=1e-5)
    for node, profile in enumerate(profiles):
        values = [exact.value(child) for child in exact.children(profile)]
        assert targets.is_expanded[node] == targets.is_fully_expanded[node] == bool(values)
        if values:
            margin = exact.net(profile) - max(values)
            assert targets.stop_margin[node] == pytest.approx(margin, abs=1e-5)
        else:
            assert np.isnan(targets.stop_margin[node])


def test_with_one_slot_the_draw_is_one_of_all_slots() -> None:
    subject, scores = make_subject(make_case(4), 3), RandomScores(3)
    search = SearchConfig(max_records=3, actions=4, width=sys.maxsize)
    one, _ = supervised(subject, TeacherConfig(search, SpecificityConfig("one", 0)), scores)
    every, _ = supervised(subject, TeacherConfig(search, SpecificityConfig("all")), scores)
    rows = dict(
        zip(
            zip(every.tree.slots.node, every.tree.slots.slot, strict=True),
            every.tree.slots.controls.tolist(),
            strict=True,
        )
    )
    drawn = list(zip(one.tree.slots.node, one.tree.slots.slot, strict=True))
    assert {node for node, _ in drawn} == {node for node, _ in rows}
    assert [rows[key] for key in drawn] == one.tree.slots.controls.tolist()


def expanded(tree: ScoredTree) -> dict[Profile, list[int]]:
    """The labelled actions of every state."""
    profiles, parents = tree.profiles, tree.parents
    actions: dict[Profile, list[int]] = {}
    for profile, parent in zip(profiles, parents, strict=True):
        if parent >= 0:
            actions.setdefault(profiles[parent], []).append(profile[-1])
    return actions


def all_roots(subject: Subject, config: SearchConfig) -> list[Profile]:
    """The search's own and the visited ones."""
    return [*root_profiles(subject.space, config), *visited_profiles(subject.space)]


def beam(
    subject: Subject, config: SearchConfig, root: Profile, scores: Mapping[Profile, float]
) -> set[Profile]:
    """What lies below one root, found on its own."""
    roots = all_roots(subject, config)
    found, level = {root}, [root]
    while level:
        children = []
        for profile in level:
            is_root = profile in roots
            actions = subject.space.feasible(profile)
            actions = actions if is_root else proposed_actions(subject.space, config, profile)
            children += [(*profile, place) for place in actions]
        found |= set(children)
        level = sorted(children, key=lambda profile: -scores[profile])[: config.width]
    return found


@pytest.mark.parametrize("room", [None, 110])
@pytest.mark.parametrize("seed", range(8))
def test_budgets_are_kept(seed: int, room: int | None) -> None:
    config = SearchConfig(max_records=5, actions=3, width=2, seed=seed)
    scores = RandomScores(seed)
    best = max(range(9), key=lambda place: scores[(place,)])  # the first beam comes through it
    case = make_case(9, visited=((7, 1), (best,)))
    subject = make_subject(case, 5, room=room)
    found, asked = supervised(subject, TeacherConfig(config), scores)
    space, tree, roots = subject.space, found.tree, all_roots(subject, config)
    actions, every = expanded(tree), [profile for step in asked for profile in step]

    assert len(set(every)) == len(every) == found.calls
    assert len(set(tree.profiles)) == len(tree.profiles)
    for profile in every:
        assert len(set(profile)) == len(profile) <= 5
        assert space.room_after(profile) >= 0
    for root in roots:
        assert actions.get(root, []) == space.feasible(root)
    for state, places in actions.items():
        proposed = [place for place in places if (*state, place) not in roots]
        assert state in roots or len(proposed) <= 3
    beams = {root: beam(subject, config, root, scores) for root in roots}
    assert set(tree.profiles) == set().union(*beams.values())
    for root, below in beams.items():
        has_children = {profile[:-1] for profile in below if len(profile) > len(root)}
        depths = [len(profile) for profile in has_children if profile != root]
        assert max(map(depths.count, depths), default=0) <= 2
    initial = {*roots, *((*root, place) for root in roots for place in space.feasible(root))}
    assert {p for p, first in zip(tree.profiles, tree.is_initial, strict=True) if first} == initial
    targets = backed_up(tree)
    for profile, is_full in zip(tree.profiles, targets.is_fully_expanded, strict=True):
        feasible = space.feasible(profile)
        assert is_full == (bool(feasible) and actions.get(profile) == feasible)


@pytest.mark.parametrize("levels", [1, 2])
def test_below_visited_states_so_many_levels_are_searched(levels: int) -> None:
    config = SearchConfig(max_records=5, actions=3, width=2, roots=())
    scores = RandomScores(3)
    lowest = min(range(9), key=lambda place: scores[(place,)])  # no beam comes through it
    plain = supervised(make_subject(make_case(9), 5), TeacherConfig(config), scores)[0].tree
    case = make_case(9, visited=((lowest,),), visited_levels=levels)
    tree = supervised(make_subject(case, 5), TeacherConfig(config), scores)[0].tree
    added = set(tree.profiles) - set(plain.profiles)
    assert set(plain.profiles) <= set(tree.profiles)
    assert {profile[0] for profile in added} == {lowest}
    assert sorted({len(profile) for profile in added}) == list(range(2, 2 + levels))
    assert sum(len(profile) == 2 for profile in added) == 8, "a visited state is expanded fully"


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_beams_end_after_so_many_levels(levels: int) -> None:
    """What is searched is what a search to the horizon begins with."""
    config = SearchConfig(max_records=5, actions=3, width=2, roots=("random",))
    short = dataclasses.replace(config, levels=levels)
    subject, scores = make_subject(make_case(9), 5), RandomScores(3)
    whole, tree = (
        supervised(subject, TeacherConfig(search), scores)[0].tree for search in (config, short)
    )
    roots = root_profiles(subject.space, config)
    assert set(tree.profiles) < set(whole.profiles)
    assert max(map(len, tree.profiles)) == min(max(map(len, roots)) + levels, 5)
    assert blind_part(tree).profiles == blind_part(whole).profiles
    assert tree.of == whole.of, "the horizon is still that of the policy"


def test_the_blind_part_is_there_whatever_came_of_it() -> None:
    """Another reference changes which prefixes are kept, but not the blind part's profiles."""
    config = SearchConfig(max_records=4, actions=3, width=2, roots=("random",))
    case = make_case(8, visited=((6, 2),), visited_levels=1)
    trees = [
        supervised(make_subject(case), TeacherConfig(config), RandomScores(seed))[0].tree
        for seed in (0, 1)
    ]
    assert trees[0].profiles != trees[1].profiles
    blind = [blind_part(tree) for tree in trees]
    assert blind[0].profiles == blind[1].profiles
    assert {(), (6, 2), (6, 2, 0), (7,)} <= set(blind[0].profiles)
    for tree, part in zip(trees, blind, strict=True):
        whole, small = (scaled_components(one, SCALE) for one in (tree, part))
        place = {profile: i for i, profile in enumerate(tree.profiles)}
        same = [place[profile] for profile in part.profiles]
        for name in ("gain", "specificity", "cost", "is_specificity_known"):
            assert (getattr(small, name) == getattr(whole, name)[same]).all()


def test_what_gains_nothing_has_no_slot_looked_at() -> None:
    """Two profiles gain, all others are as good as none."""
    scores: dict[Profile, float] = defaultdict(lambda: -2.0, {(1,): -1.0, (2, 0): -1.0})
    search = SearchConfig(max_records=2, actions=4, width=4)
    teacher = TeacherConfig(search, SpecificityConfig("all"))
    found, asked = supervised(make_subject(make_case(4), 2), teacher, scores)
    slots = found.tree.slots
    looked_at = [found.tree.profiles[node] for node in slots.node]
    assert looked_at == [(1,), (2, 0), (2, 0)]
    assert found.savings.gated == len(found.tree.profiles) - 3
    assert len(asked[-1]) == 3 * 2  # two controls each; what is left without the record is known


def test_actions_are_high_unlike_and_uniform() -> None:
    """Records lie on an arc, so the one least like record 0 is record 8."""
    space = make_subject(make_case(9), 5).space
    configs = [SearchConfig(actions=3, seed=seed) for seed in range(60)]
    tried = [proposed_actions(space, config, (0,)) for config in configs]
    assert all(len(set(actions)) == 3 and {1, 8} < set(actions) for actions in tried)
    assert {place for actions in tried for place in actions} == set(range(1, 9))
    assert tried == [proposed_actions(space, config, (0,)) for config in configs]


@pytest.mark.parametrize("seed", range(20))
def test_lengths_of_roots_are_stratified(seed: int) -> None:
    subject = make_subject(make_case(9), 8)
    roots = root_profiles(subject.space, SearchConfig(max_records=8, seed=seed))
    assert roots[0] == ()
    assert sorted((len(root) - 1) // 2 for root in roots[1:]) == [0, 1, 2, 3]


def test_the_tree_does_not_depend_on_orders() -> None:
    visited = ((5, 2), (3,), (1, 4, 0))
    subjects = [make_subject(make_case(8, visited=v)) for v in (visited, visited[::-1])]
    scores = RandomScores(0)
    first, second = (supervised(one, TeacherConfig(SMALL), scores)[0].tree for one in subjects)
    assert_same(first, second)


def test_a_request_gets_the_same_tree_in_any_company() -> None:
    generator, config = FakeGenerator(), TeacherConfig(SMALL)
    subjects = [make_subject(make_case(size, request=f"q{size}")) for size in (3, 8, 6)]
    together = supervise(subjects, config, generator.score)
    backwards = supervise(subjects[::-1], config, generator.score)[::-1]
    for subject, one, other in zip(subjects, together, backwards, strict=True):
        assert_same(one.tree, other.tree)
        assert_same(one.tree, supervise([subject], config, generator.score)[0].tree)


def assert_same(one: ScoredTree, other: ScoredTree) -> None:
    assert one.of == other.of
    assert one.profiles == other.profiles
    for name in ("log_likelihood", "is_initial"):
        assert (getattr(one, name) == getattr(other, name)).all()
    for name in ("node", "slot", "without", "controls", "counts_for"):
        assert (getattr(one.slots, name) == getattr(other.slots, name)).all()


def golden_tree(seed: int) -> dict[str, Any]:
    subject = make_subject(make_case(8, unmatched=(5,), visited=((6, 2),)))
    search = SearchConfig(max_records=4, actions=3, width=2, seed=seed)
    tree = supervise([subject], TeacherConfig(search), FakeGenerator().score)[0].tree
    slots = tree.slots
    return {
        "profiles": ["-".join(map(str, profile)) for profile in tree.profiles],
        "initial": tree.is_initial.astype(int).tolist(),
        "slots": [
            [int(node), int(slot), bool(counts)]
            for node, slot, counts in zip(slots.node, slots.slot, slots.counts_for, strict=True)
        ],
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_golden_trees(seed: int) -> None:
    expected = json.loads((GOLDEN / f"tree-{seed}.json").read_text(encoding="utf-8"))
    assert golden_tree(seed) == expected


def write_golden_trees() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for seed in SEEDS:
        text = json.dumps(golden_tree(seed), separators=(",", ":"))
        (GOLDEN / f"tree-{seed}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_golden_trees()
