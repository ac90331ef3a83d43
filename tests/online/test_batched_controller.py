"""Many requests at once equal one at a time: values within 1e-5, choices always."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from enough.controller.batches import collate_requests
from enough.controller.examples import budget_features
from enough.controller.features import PoolFeatures
from enough.controller.losses import net_value
from enough.controller.model import Controller, States
from enough.controller.rollout import roll_out
from enough.errors import ConfigError, UnknownNameError
from enough.online.batched_controller import BatchedController
from enough.online.fast_controller import FastController
from enough.online.policy import ControllerPolicy
from enough.prompts.prompter import L_REF
from enough.protocols import Floats
from tests.controller.toy import controller, features
from tests.online.test_fast_controller import POINT, trained
from tests.retrieval.tiny import BagEncoder

VARIANTS: list[dict[str, object]] = [
    {},
    {"ordered": False},
    {"single_head": True},
    {"features": False},
]


def lively(**changes: object) -> Controller:
    model = controller(**changes)  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():  # livelier than fresh weights
        torch.nn.init.normal_(parameter, std=0.3, generator=generator)
    return model


def pools(count: int, seed: int = 0) -> list[PoolFeatures]:
    """Of any size, empty ones too, with any horizon and room."""
    rng = np.random.default_rng(seed)
    return [
        dataclasses.replace(
            features(int(rng.integers(9)), seed=int(rng.integers(1000))),
            max_records=int(rng.integers(8)),
            room=int(rng.choice([0, 115, 250, 400, 10_000])),
        )
        for _ in range(count)
    ]


def plain(
    model: Controller, some: list[PoolFeatures], chosen: list[list[int]]
) -> tuple[Floats, Floats]:
    """Net values of the training model, [B, N] and [B]."""
    spent = np.array([one.tokens[places].sum() for one, places in zip(some, chosen, strict=True)])
    budget = budget_features(
        (spent / L_REF).astype(np.float32),
        np.array([one.max_records for one in some], np.float32) - len(chosen[0]),
        (np.array([one.room for one in some]) - spent).astype(np.float32),
    )
    states = States(
        torch.arange(len(some)),
        torch.tensor([places or [0] for places in chosen]),
        torch.tensor([len(places) for places in chosen]),
        torch.from_numpy(budget),
    )
    requests = collate_requests(some, model.tasks)
    with torch.no_grad():
        actions, stop = model(requests, model.encode(requests), states)
    net, ends = (net_value(part, POINT.beta, POINT.lambda_) for part in (actions, stop))
    return net.numpy(), ends.numpy()


@pytest.mark.parametrize("changes", VARIANTS)
def test_10_000_random_states(changes: dict[str, object]) -> None:
    """2,500 states of each variant."""
    model = lively(**changes)
    batched, fast = BatchedController(trained(model)), FastController(trained(model))
    rng, states = np.random.default_rng(0), 0
    while states < 2500:
        some = pools(100, seed=states)
        walk, alone = batched.start(some), [fast.start(one) for one in some]
        while some:
            states += len(some)
            net, stop = walk.values()
            expected, ends = np.full(net.shape, -np.inf), np.zeros(len(some))
            places = np.zeros(len(some), np.int64)
            actions, stops = plain(model, some, [one.chosen for one in alone])
            for row, one in enumerate(alone):
                values, left = one.values(), np.flatnonzero(one.feasible)
                expected[row, : len(values.net)], ends[row] = values.net, values.net_stop
                if len(left):
                    places[row] = rng.choice(left)
                    one.take(int(places[row]))
            for mine, other in ((net, expected), (stop, ends), (stop, stops)):
                np.testing.assert_allclose(mine, other, atol=1e-5, rtol=1e-5)
            cut = net[:, : actions.shape[1]]  # the largest pool may have ended
            is_open = np.isfinite(cut)
            np.testing.assert_allclose(cut[is_open], actions[is_open], atol=1e-5, rtol=1e-5)
            goes_on = np.array([np.isfinite(row).any() for row in net])
            walk.take(places)
            walk.keep(goes_on)
            some = [one for one, goes in zip(some, goes_on, strict=True) if goes]
            alone = [one for one, goes in zip(alone, goes_on, strict=True) if goes]


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize("forced_length", [0, 2, 5])
def test_forced_profiles_are_those_of_the_policy(
    changes: dict[str, object], forced_length: int
) -> None:
    model, some = lively(**changes), pools(100, seed=1)
    policy = ControllerPolicy(trained(model), BagEncoder(), forced_length=forced_length)
    batched = BatchedController(trained(model), forced_length=forced_length)
    assert batched.decide_many(some) == [policy.decide(one).profile for one in some]


@pytest.mark.parametrize("changes", VARIANTS)
def test_profiles_are_those_of_the_policy_and_of_the_training_model(
    changes: dict[str, object],
) -> None:
    lengths = set()
    for lift in (0.0, 1.0, 2.0):  # some weights like to stop
        model, some = lively(**changes), pools(100, seed=1)
        with torch.no_grad():
            model.second.bias.add_(lift)
        policy = ControllerPolicy(trained(model), BagEncoder())
        batched = BatchedController(trained(model), slab=40)
        profiles = batched.decide_many(some)
        assert profiles == [policy.decide(one).profile for one in some]
        filled = [one for one in some if len(one.tokens)]
        assert batched.decide_many(filled) == [p for p, _ in roll_out(model, filled, POINT)]
        lengths |= {len(profile) for profile in profiles}
    assert {0, 1, 2} <= lengths


def test_the_company_does_not_matter() -> None:
    model, some = lively(), pools(40, seed=2)
    expected = BatchedController(trained(model)).decide_many(some)
    for slab in (1, 7, 100):
        assert BatchedController(trained(model), slab=slab).decide_many(some) == expected
    assert BatchedController(trained(model)).decide_many(some[::-1]) == expected[::-1]


def test_forced_profiles_end_with_horizon_room_or_length() -> None:
    roomy = dataclasses.replace(features(6), max_records=4, room=10_000)
    tight = dataclasses.replace(roomy, room=315)  # three of about 100 tokens would not fit
    batched = BatchedController(trained(controller()), forced_length=10)
    assert [len(p) for p in batched.decide_many([roomy, tight, features(0)])] == [4, 2, 0]
    short = BatchedController(trained(controller()), forced_length=3).decide_many([roomy])
    assert short == [batched.decide_many([roomy])[0][:3]]


def test_a_tie_is_a_stop() -> None:
    model = controller()
    for part in (model.second, model.stop_second):
        torch.nn.init.zeros_(part.weight)
        torch.nn.init.zeros_(part.bias)
    torch.nn.init.zeros_(model.worth)
    free = dataclasses.replace(features(3), tokens=np.zeros(3, np.int64))
    assert BatchedController(trained(model)).decide_many([free, features(2)]) == [(), ()]
    torch.nn.init.constant_(model.second.bias, 1e-3)
    assert BatchedController(trained(model)).decide_many([free]) == [(0, 1, 2)]


def test_nothing_to_decide() -> None:
    batched = BatchedController(trained(controller()))
    assert batched.decide_many([]) == []
    assert batched.decide_many([features(0), features(0)]) == [(), ()]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match="slab"):
        BatchedController(trained(controller()), slab=0)
    with pytest.raises(ConfigError, match="forced_length"):
        BatchedController(trained(controller()), forced_length=-1)
    stranger = dataclasses.replace(features(2), task="LaMP-2")
    with pytest.raises(UnknownNameError, match="LaMP-2"):
        BatchedController(trained(controller())).decide_many([stranger])
