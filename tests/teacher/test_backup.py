"""Eq. best-leaf and the teacher's stop margin by hand, for the three kinds of backup.

Two records of 512 tokens (c = 0.5 each), scales of one, no specificity. ℓ(∅) = −4.

    ∅ −4 ── a −4.5 ── ab −2
     └──── b −3   ── ba −3.5
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.teacher.backup import back_up, best_leaves, feasible_actions
from enough.teacher.components import TargetConfig, raw_components
from tests.teacher.cases import tree_of_values

TREE = tree_of_values({(): -4.0, (0,): -4.5, (1,): -3.0, (0, 1): -2.0, (1, 0): -3.5}, (512, 512), 2)
POINT = TargetConfig(beta=0.4, lambda_=1.0)
ROOT, A, B, AB, BA = range(5)
# J = g − c:  ∅ 0, a −1, b 0.5, ab 1, ba −0.5


def test_net_objective_of_every_profile() -> None:
    assert raw_components(TREE).net(POINT).tolist() == [0.0, -1.0, 0.5, 1.0, -0.5]


def test_best_leaf_of_hindsight() -> None:
    targets = back_up(TREE, raw_components(TREE), POINT)
    assert targets.leaf.tolist() == [AB, AB, B, AB, BA]
    # all three components are those of the one leaf: (g, p, c)
    assert targets.best[A].tolist() == [2.0, 0.0, 1.0]
    assert targets.best[B].tolist() == [1.0, 0.0, 0.5]


def test_stop_leaf_is_the_current_profile() -> None:
    targets = back_up(TREE, raw_components(TREE), POINT)
    assert targets.own.tolist() == [[0, 0, 0], [-0.5, 0, 0.5], [1, 0, 0.5], [2, 0, 1], [0.5, 0, 1]]


def test_teacher_stop_margin() -> None:
    margin = back_up(TREE, raw_components(TREE), POINT).stop_margin
    # ∅: 0 − max(1, 0.5); a: −1 − 1; b: 0.5 − (−0.5)
    assert margin[:3].tolist() == [-1.0, -2.0, 1.0]
    assert np.isnan(margin[3:]).all()


def test_myopic_backup_takes_the_next_profile() -> None:
    targets = back_up(TREE, raw_components(TREE), POINT, "myopic")
    assert (targets.best == targets.own).all()
    assert targets.stop_margin[:3].tolist() == [-0.5, -2.0, 1.0]  # ∅: 0 − max(−1, 0.5)


def test_crossfit_chooses_by_predictions_and_takes_what_is_realised() -> None:
    predicted = np.array([0.0, 0.3, 0.1, 0.2, 0.4])  # says: stop at a, but go on from b
    targets = back_up(TREE, raw_components(TREE), POINT, "crossfit", predicted)
    assert targets.leaf.tolist() == [BA, A, BA, AB, BA]
    assert targets.best[A].tolist() == [-0.5, 0.0, 0.5]
    assert targets.best[B].tolist() == [0.5, 0.0, 1.0]
    # ∅: b looks best (0.4 by way of ba), and realises −0.5
    assert targets.stop_margin[ROOT] == 0.5


def test_crossfit_margins_are_of_the_action_that_looks_best_not_of_the_luckiest() -> None:
    predicted = np.array([0.0, 0.3, 0.1, 0.2, 0.2])  # a looks best, and ends at once
    targets = back_up(TREE, raw_components(TREE), POINT, "crossfit", predicted)
    assert targets.leaf[[A, B]].tolist() == [A, BA]
    assert targets.stop_margin[ROOT] == 0.0 - (-1.0)  # b would have realised −0.5


def test_crossfit_and_predictions_belong_together() -> None:
    with pytest.raises(ValueError, match="crossfit"):
        back_up(TREE, raw_components(TREE), POINT, "crossfit")
    with pytest.raises(ValueError, match="crossfit"):
        back_up(TREE, raw_components(TREE), POINT, "hindsight", np.zeros(5))


def test_ties_are_stops() -> None:
    tree = tree_of_values({(): -4.0, (0,): -4.0, (1,): -4.0}, (512, 512), 1)
    targets = back_up(tree, raw_components(tree), TargetConfig(0.4, 0.0))
    assert targets.leaf.tolist() == [0, 1, 2]
    assert targets.stop_margin[0] == 0.0


def test_a_root_without_its_parent_is_a_state_but_no_action() -> None:
    tree = tree_of_values({(): -4.0, (0,): -3.0, (1, 0): -1.0}, (512, 512), 2)
    targets = back_up(tree, raw_components(tree), POINT)
    assert targets.parent.tolist() == [-1, 0, -1]
    assert targets.leaf[0] == 1  # (b, a) is better, but nothing sampled leads there from ∅
    assert targets.is_fully_expanded.tolist() == [False, False, False]


def test_fully_expanded_means_every_feasible_action() -> None:
    targets = back_up(TREE, raw_components(TREE), POINT)
    assert feasible_actions(TREE).sum(axis=1).tolist() == [2, 1, 1, 0, 0]
    assert targets.is_fully_expanded.tolist() == [True, True, True, False, False]


@given(st.data())
def test_another_lambda_moves_only_the_choice(data: st.DataObject) -> None:
    """The same likelihoods, for any β and λ: V falls in λ, and its leaf never gets dearer."""
    low, high = sorted(data.draw(st.tuples(st.floats(0, 4), st.floats(0, 4))))
    components = raw_components(TREE)
    costs = []
    for lambda_ in (low, high):
        net = components.net(TargetConfig(0.4, lambda_))
        leaf = best_leaves(TREE.parents, TREE.lengths, net)[ROOT]
        costs.append(components.cost[leaf])
        assert net[leaf] == net.max()
    assert costs[1] <= costs[0]
