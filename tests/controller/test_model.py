"""The controller's shape: what it may depend on, what it knows without learning."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor

from enough.controller.batches import collate_requests
from enough.controller.features import PoolFeatures
from enough.controller.model import (
    Controller,
    ModelConfig,
    States,
    chosen_mask,
    dynamic_features,
)
from enough.controller.training import new_controller
from enough.errors import ConfigError
from enough.prompts.prompter import L_REF
from tests.controller.toy import controller, features


def states(*profiles: tuple[int, ...], of: tuple[int, ...] | None = None) -> States:
    chosen = torch.zeros(len(profiles), 3, dtype=torch.int64)
    for row, profile in enumerate(profiles):
        chosen[row, : len(profile)] = torch.tensor(profile)
    return States(
        of=torch.tensor(of or (0,) * len(profiles)),
        chosen=chosen,
        length=torch.tensor([len(profile) for profile in profiles]),
        budget=torch.full((len(profiles), 3), 0.25),
    )


def values(model: Controller, pools: list[PoolFeatures], at: States) -> tuple[Tensor, Tensor]:
    requests = collate_requests(pools, model.tasks)
    with torch.no_grad():
        found: tuple[Tensor, Tensor] = model(requests, model.encode(requests), at)
    return found


def test_three_values_for_every_record_and_stop() -> None:
    actions, stop = values(controller(), [features(4)], states((), (1,), (1, 0)))
    assert actions.shape == (3, 4, 3)
    assert stop.shape == (3, 3)
    actions, stop = values(controller(single_head=True), [features(4)], states((), (1,)))
    assert (actions.shape, stop.shape) == ((2, 4, 1), (2, 1))


def test_what_is_known_is_not_predicted() -> None:
    pool = features(4)
    actions, stop = values(controller(), [pool], states((), (1,)))
    assert stop[0].tolist() == [0.0, 0.0, 0.25]  # nothing gained, cost so far
    assert stop[1, 2].item() == 0.25
    model = controller()
    torch.nn.init.zeros_(model.second.weight)
    torch.nn.init.zeros_(model.second.bias)
    torch.nn.init.zeros_(model.worth)
    actions, _ = values(model, [pool], states(()))
    np.testing.assert_allclose(actions[0, :, 2].numpy(), 0.25 + pool.tokens / L_REF, rtol=1e-6)


def test_the_order_of_the_profile_counts_only_if_it_shall() -> None:
    for ordered in (True, False):
        model = controller(ordered=ordered)
        actions, stop = values(model, [features(4)], states((0, 1), (1, 0)))
        same = torch.allclose(actions[0], actions[1], atol=1e-6)
        assert same == (not ordered)
        assert torch.allclose(stop[0], stop[1], atol=1e-6) == (not ordered)


def test_the_order_of_candidates_does_not_count() -> None:
    pool, order = features(4), np.array([2, 0, 3, 1])
    shuffled = dataclasses.replace(
        pool,
        **{name: getattr(pool, name)[order] for name in ("records", "actions", "static", "tokens")},
        **{
            name: getattr(pool, name)[np.ix_(order, order)]
            for name in ("record_likeness", "action_likeness", "same_action")
        },
    )
    model = controller()
    actions, stop = values(model, [pool], states((3,)))
    moved, moved_stop = values(model, [shuffled], states((2,)))  # the same record
    torch.testing.assert_close(moved[0], actions[0][torch.from_numpy(order)])
    torch.testing.assert_close(moved_stop, stop)


def test_padding_changes_nothing() -> None:
    model, small, large = controller(), features(2), features(6, seed=1)
    alone, stop = values(model, [small], states((1,)))
    together, stops = values(model, [large, small], states((5,), (1,), of=(0, 1)))
    torch.testing.assert_close(together[1, :2], alone[0])
    torch.testing.assert_close(stops[1], stop[0])


def test_an_empty_pool_is_a_state_like_any_other() -> None:
    _, stop = values(controller(), [features(0)], states(()))
    assert torch.isfinite(stop).all()


def test_chosen_mask_marks_no_padding() -> None:
    assert chosen_mask(states((), (2,), (0, 1)), 3).tolist() == [
        [False, False, False],
        [False, False, True],
        [True, True, False],
    ]


def test_dynamic_features_by_hand() -> None:
    pool = features(3)
    requests = collate_requests([pool], {"LaMP-7": 0})
    found = dynamic_features(requests, states((), (0, 2)))
    assert (found[0] == 0).all()
    for candidate in range(3):
        expected = [
            max(pool.record_likeness[candidate, [0, 2]]),
            max(pool.action_likeness[candidate, [0, 2]]),
            pool.action_likeness[candidate, [0, 2]].mean(),
            pool.same_action[candidate, [0, 2]].mean(),
        ]
        np.testing.assert_allclose(found[1, candidate].numpy(), expected, rtol=1e-6)


def test_tasks_differ() -> None:
    model = controller()
    one, _ = values(model, [features(3)], states(()))
    other, _ = values(model, [dataclasses.replace(features(3), task="LaMP-4")], states(()))
    assert not torch.allclose(one, other)


def test_without_features_only_embeddings_count() -> None:
    model, pool = controller(features=False), features(3)
    changed = dataclasses.replace(pool, static=pool.static + 1, same_action=1 - pool.same_action)
    torch.testing.assert_close(
        values(model, [pool], states((1,))), values(model, [changed], states((1,)))
    )


def test_impossible_shapes_are_refused() -> None:
    with pytest.raises(ConfigError, match="multiple"):
        ModelConfig(hidden=10, heads=4)


def test_fresh_weights_have_no_opinion() -> None:
    """Or a fit that is best after few steps would keep the random ranking it began with."""
    model = new_controller(ModelConfig(dim=64, hidden=16, heads=2), ("LaMP-7",), seed=0)
    one = features(4)
    actions, stop = values(model, [one], states(()))
    assert not actions[..., :2].any()
    assert not stop[..., :2].any()


def test_numbers_speak_for_a_record_and_for_the_profile_it_is_in() -> None:
    model = new_controller(ModelConfig(dim=64, hidden=16, heads=2), ("LaMP-7",), seed=0)
    one = features(3)
    with torch.no_grad():
        model.worth.normal_(generator=torch.Generator().manual_seed(0))
    worth = torch.from_numpy(one.static) @ model.worth[0]  # [3, 3]
    root, _ = values(model, [one], states(()))
    assert torch.allclose(root[0, :, :2], worth[:, :2], atol=1e-5)
    after, stop = values(model, [one], states((2,)))
    assert torch.allclose(after[0, 0, :2], (worth[0] + worth[2])[:2], atol=1e-5)
    assert torch.allclose(stop[0, :2], worth[2, :2], atol=1e-5)
    for change in ({"additive": False}, {"features": False}):
        silent = new_controller(
            ModelConfig(dim=64, hidden=16, heads=2, **change),
            ("LaMP-7",),
            seed=0,
        )
        with torch.no_grad():
            silent.worth.normal_(generator=torch.Generator().manual_seed(0))
        quiet, _ = values(silent, [one], states(()))
        assert not quiet[..., :2].any()
