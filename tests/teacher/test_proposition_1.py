"""Proposition 1: with exact values, taking the best action and stopping on a tie is optimal."""

from __future__ import annotations

from itertools import chain, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import L_REF
from enough.teacher.components import TargetConfig, raw_components
from enough.teacher.oracle import Exact, exact_values, greedy
from enough.teacher.scored_tree import ScoredTree
from tests.teacher.cases import tree_of_values

# Few distinct values, all exact in binary: ties are common and equality is equality.
LEVELS = st.integers(-8, 8).map(lambda eighths: eighths / 8)


@st.composite
def exact_trees(draw: st.DrawFn) -> Exact:
    """Random utilities and prices on all profiles of a small pool."""
    size = draw(st.integers(0, 4))
    horizon = min(size, draw(st.integers(0, 3)))
    every = chain.from_iterable(permutations(range(size), length) for length in range(horizon + 1))
    likelihoods: dict[Profile, float] = {profile: draw(LEVELS) for profile in every}
    tokens = [draw(st.integers(1, 4)) * L_REF // 16 for _ in range(size)]
    tree = tree_of_values(likelihoods, tokens, horizon)
    point = TargetConfig(beta=0.4, lambda_=draw(st.sampled_from([0.0, 0.5, 2.0])))
    return exact_values(tree, raw_components(tree), point, epsilon=draw(LEVELS.map(abs)))


def below(tree: ScoredTree, node: int) -> list[int]:
    """The node and everything it is a prefix of."""
    prefix = tree.profiles[node]
    return [i for i, p in enumerate(tree.profiles) if p[: len(prefix)] == prefix]


def children(tree: ScoredTree, node: int) -> list[int]:
    return [i for i in below(tree, node) if tree.lengths[i] == tree.lengths[node] + 1]


@settings(deadline=None)
@given(exact_trees())
def test_acting_greedily_on_exact_values_reaches_the_best_profile(exact: Exact) -> None:
    node = 0
    while True:
        choices = {child: exact.value[child] for child in children(exact.tree, node)}
        if exact.net[node] >= max(choices.values(), default=-np.inf):  # ties to STOP
            break
        node = max(choices, key=lambda child: choices[child])
    assert exact.net[node] == exact.net.max()
    assert node == exact.best == greedy(exact, exact.value)


@settings(deadline=None)
@given(exact_trees())
def test_any_greedy_path_is_optimal_however_other_ties_fall(exact: Exact) -> None:
    """The proof does not need the first of equal records, only a best one."""
    node = 0
    while exact.net[node] < exact.value[node]:
        node = max(c for c in children(exact.tree, node) if exact.value[c] == exact.value[node])
    assert exact.net[node] == exact.net.max()


@settings(deadline=None)
@given(exact_trees())
def test_values_are_the_best_of_all_descendants(exact: Exact) -> None:
    for node in range(len(exact.net)):
        assert exact.value[node] == exact.net[below(exact.tree, node)].max()
        after = [exact.value[child] for child in children(exact.tree, node)]
        assert exact.value[node] == max([exact.net[node], *after])
        assert (exact.leaf[node] == node) == (exact.net[node] >= max(after, default=-np.inf))


@settings(deadline=None)
@given(exact_trees())
def test_ties_end_at_the_shortest_of_the_best_on_the_way(exact: Exact) -> None:
    best = exact.tree.profiles[exact.best]
    shorter = [exact.net[exact.tree.profiles.index(best[:n])] for n in range(len(best))]
    assert all(net < exact.net[exact.best] for net in shorter)


@settings(deadline=None)
@given(exact_trees())
def test_the_minimal_sufficient_profile_is_sufficient_and_none_is_cheaper(exact: Exact) -> None:
    sufficient = exact.utility >= exact.utility.max() - exact.epsilon
    assert sufficient[exact.minimal]
    cost = exact.tree.cost
    assert cost[exact.minimal] == cost[sufficient].min()
    alike = sufficient & (cost == cost[exact.minimal])
    assert exact.utility[exact.minimal] == exact.utility[alike].max()
