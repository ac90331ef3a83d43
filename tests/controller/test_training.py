"""Rows of states by hand, training on a toy, cross-fitting without peeking."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from enough.controller.crossfit import Folds, crossfit_targets, plain_targets, worth_models
from enough.controller.examples import LabelledRequest, state_rows
from enough.controller.fit_state import Stage
from enough.controller.labelled import Labelled
from enough.controller.losses import LossConfig
from enough.controller.objective import Objective
from enough.controller.optimisation import FitConfig, Stepper, one_thread
from enough.controller.rollout import predicted_worth, roll_out
from enough.controller.training import fit, new_controller
from enough.errors import DataError, ModelError
from enough.teacher.backup import back_up
from enough.teacher.components import Components, TargetConfig, raw_components
from tests.controller.toy import SMALL, controller, features, labelled
from tests.teacher.cases import tree_of_values

POINT = TargetConfig(0.4, 0.1)
QUICK = FitConfig(steps=60, requests=8, check_every=20, learning_rate=5e-3)
LOSSES = LossConfig()
TASKS = ("LaMP-4", "LaMP-7")


def test_state_rows_by_hand() -> None:
    """Two records of 100 and 110 tokens, horizon 2: ∅ and (0) are expanded, (1) is not."""
    one = dataclasses.replace(features(2), max_records=2, room=500)
    tree = tree_of_values({(): -4.0, (0,): -3.0, (1,): -3.5, (0, 1): -2.0}, (100, 110), 2)
    request = LabelledRequest(one, tree, raw_components(tree))
    rows = state_rows(request, back_up(tree, request.components, TargetConfig(0.4, 0.0)))
    assert rows.length.tolist() == [0, 1, 1, 2]
    assert rows.chosen.tolist() == [[0, 0], [0, 0], [1, 0], [0, 1]]
    assert rows.expanded.tolist() == [0, 1]
    assert rows.is_labelled.tolist() == [[True, True], [False, True]]
    assert rows.is_full.tolist() == [True, True]
    assert rows.is_feasible.tolist() == [[True, True], [False, True]]
    # taking 0 at the root leads to (0, 1): gain 2; taking 1 ends at (1): gain 0.5
    assert rows.action_target[0, :, 0].tolist() == [2.0, 0.5]
    assert rows.action_target[1, 1, 0] == 2.0
    assert rows.stop_target[:, 0].tolist() == [0.0, 1.0, 0.5, 2.0]
    assert rows.stop_margin.tolist() == [-2.0, -1.0]
    np.testing.assert_allclose(rows.budget[3], [210 / 1024, 0.0, 290 / 1024 / 4], rtol=1e-6)


def toy_set(count: int, start: int = 0) -> list[LabelledRequest]:
    """A world in which taking record 0 gains 1 and anything else loses."""
    requests = []
    for seed in range(start, start + count):
        one = labelled(3, seed=seed, task=("LaMP-7", "LaMP-4")[seed % 2])
        worth = {
            p: -3.0 + (1.0 if 0 in p else 0.0) - 0.5 * sum(x != 0 for x in p)
            for p in one.tree.profiles
        }
        tree = tree_of_values(worth, [int(t) for t in one.features.tokens], 3)
        of = dataclasses.replace(tree.of, user=f"u{seed}", task=one.features.task)
        tree = dataclasses.replace(tree, of=of)
        requests.append(LabelledRequest(one.features, tree, raw_components(tree)))
    return requests


@pytest.mark.parametrize("single_head", [False, True])
def test_it_learns_a_toy_world(single_head: bool) -> None:
    train, select = toy_set(24), toy_set(8, start=100)
    model = new_controller(dataclasses.replace(SMALL, single_head=single_head), TASKS, 0)
    sets = [Labelled.of(part, plain_targets(part, POINT, "hindsight")) for part in (train, select)]
    model = fit(model, sets[0], sets[1], Objective(POINT, LOSSES), QUICK)
    chosen = roll_out(model, [request.features for request in toy_set(8, start=200)], POINT)
    assert [profile for profile, _ in chosen].count((0,)) >= 7


def test_training_is_deterministic() -> None:
    weights = []
    for _ in range(2):
        train = toy_set(8)
        sets = Labelled.of(train, plain_targets(train, POINT, "myopic"))
        model = new_controller(SMALL, TASKS, 3)
        config = dataclasses.replace(QUICK, steps=10)
        weights.append(fit(model, sets, sets, Objective(POINT, LOSSES), config).state_dict())
    for name, value in weights[0].items():
        assert torch.equal(value, weights[1][name]), name


@one_thread()
def test_a_step_is_a_function_of_its_number() -> None:
    """Steps 1 to 6 in one go, or 4 to 6 from where another stepper was after 3."""
    train = toy_set(12)
    sets = Labelled.of(train, plain_targets(train, POINT, "hindsight"))
    whole, parted = (new_controller(SMALL, TASKS, 0) for _ in range(2))
    objective, stage = Objective(POINT, LOSSES), Stage.fold(5, 2, 3)
    Stepper(whole, sets, objective, QUICK, stage).steps(1, 6)
    first = Stepper(parted, sets, objective, QUICK, stage)
    first.steps(1, 3)
    second = Stepper(parted, sets, objective, QUICK, stage)
    second.optimiser.load_state_dict(first.optimiser.state_dict())
    second.steps(4, 6)
    for one, other in zip(whole.parameters(), parted.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_loss_that_is_not_a_number_ends_it() -> None:
    train = toy_set(4)
    sets = Labelled.of(train, plain_targets(train, POINT, "myopic"))
    model = new_controller(SMALL, TASKS, 0)
    torch.nn.init.constant_(model.second.bias, torch.nan)
    with pytest.raises(ModelError, match=r"step 1 is not a number; lower fit\.learning_rate"):
        fit(model, sets, sets, Objective(POINT, LOSSES), QUICK)


def test_roll_out_keeps_to_the_rules() -> None:
    model = controller()
    torch.nn.init.constant_(model.second.bias, 5.0)  # always wants more
    pools = [features(5, seed=1), features(0), dataclasses.replace(features(4), room=215)]
    (long, _), (none, promised), (tight, _) = roll_out(model, pools, POINT)
    assert len(long) == len(set(long)) == 3  # the horizon, nothing twice
    assert (none, promised) == ((), 0.0)
    assert sum(int(pools[2].tokens[place]) for place in tight) <= 215
    torch.nn.init.constant_(model.second.bias, -5.0)
    assert [profile for profile, _ in roll_out(model, pools, POINT)] == [(), (), ()]


def test_a_policy_that_would_stop_is_walked_on() -> None:
    model = controller()
    torch.nn.init.constant_(model.second.bias, -5.0)  # never wants anything
    pools = [features(5, seed=1), features(1), dataclasses.replace(features(4), room=0)]
    walked = [profile for profile, _ in roll_out(model, pools, POINT, at_least=2)]
    assert [len(profile) for profile in walked] == [2, 1, 0]  # as far as there are records, room
    torch.nn.init.constant_(model.second.bias, 5.0)
    (profile, _), *_ = roll_out(model, pools, POINT, at_least=2)
    assert len(profile) == 3, "it may go on of its own accord"


def test_roll_out_of_one_is_roll_out_of_many() -> None:
    model, pools = controller(), [features(n, seed=n) for n in (2, 5, 3, 4)]
    together = roll_out(model, pools, POINT)
    for pool, (profile, promised) in zip(pools, together, strict=True):
        ((alone, value),) = roll_out(model, [pool], POINT)
        assert alone == profile
        assert value == pytest.approx(promised, abs=1e-5)


def test_folds_keep_users_together_and_out() -> None:
    train = toy_set(20)
    folds = Folds.deal(train, 3, seed=0)
    sizes = np.bincount([folds.of(request) for request in train], minlength=3)
    users = len({request.tree.of.user for request in train})
    assert sizes.sum() == 20
    assert len(set(folds.fold_of.values())) == min(users, 3)
    assert folds.of(train[4]) == folds.of(dataclasses.replace(train[4]))
    dealt = np.bincount(list(folds.fold_of.values()))
    assert dealt.max() - dealt.min() <= 1, "nobody's luck leaves a fold empty"
    assert Folds.deal(train[::-1], 3, seed=0) == folds


def test_a_fold_model_never_sees_its_own_fold() -> None:
    """Spoiling the labels of one fold leaves the model of that fold as it was."""
    train = toy_set(16)
    folds = Folds.deal(train, 4, seed=0)
    config = dataclasses.replace(QUICK, steps=6)
    objective = Objective(POINT, LOSSES)
    before = worth_models(train, objective, SMALL, config, folds, tasks=TASKS)
    spoiled = [
        dataclasses.replace(request, components=_negated(request))
        if folds.of(request) == 2
        else request
        for request in train
    ]
    after = worth_models(spoiled, objective, SMALL, config, folds, tasks=TASKS)
    same = [
        all(torch.equal(a, b) for a, b in zip(old.parameters(), new.parameters(), strict=True))
        for old, new in zip(before, after, strict=True)
    ]
    assert same[2]
    assert not all(same)


def test_every_fold_needs_a_user() -> None:
    with pytest.raises(DataError, match="too few labelled users for 9 folds"):
        train = toy_set(4)
        folds = Folds.deal(train, 9, seed=0)
        worth_models(train, Objective(POINT, LOSSES), SMALL, QUICK, folds, tasks=TASKS)


def _negated(request: LabelledRequest) -> Components:
    return dataclasses.replace(request.components, gain=-request.components.gain)


def test_crossfit_targets_follow_the_models_and_keep_what_is_realised() -> None:
    train = toy_set(8)
    folds = Folds.deal(train, 2, seed=0)
    models = [controller(), controller()]
    for request, found in zip(train, crossfit_targets(train, models, POINT, folds), strict=True):
        rows = state_rows(request, plain_targets([request], POINT, "myopic")[0])
        (worth,) = predicted_worth(models[folds.of(request)], [request], [rows], POINT)
        expected = back_up(request.tree, request.components, POINT, "crossfit", worth)
        assert (found.leaf == expected.leaf).all()
        assert (found.best == found.own[found.leaf]).all()


@one_thread()
def test_worth_of_many_trees_is_worth_of_each() -> None:
    """Trees of several sizes, more than are computed at a time."""
    requests = toy_set(30) + [labelled(size, seed=size) for size in (1, 5, 8, 2)] * 6
    rows = Labelled.of(requests, plain_targets(requests, POINT, "myopic")).rows
    assert sum(len(row.length) for row in rows) > 3 * 256
    model = controller()
    together = predicted_worth(model, requests, rows, POINT)
    for request, row, found in zip(requests, rows, together, strict=True):
        (alone,) = predicted_worth(model, [request], [row], POINT)
        np.testing.assert_allclose(found, alone, atol=1e-6)
