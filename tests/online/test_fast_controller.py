"""The fast runtime equals the training model: values within 1e-5, choices always."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from enough.controller.batches import collate_requests
from enough.controller.checkpoint import Trained
from enough.controller.examples import budget_features
from enough.controller.features import PoolFeatures
from enough.controller.losses import net_value
from enough.controller.model import Controller, States
from enough.labels.tree_files import Fingerprints
from enough.online.fast_controller import FastController, Walk
from enough.prompts.prompter import L_REF
from enough.protocols import Floats
from enough.teacher.components import TargetConfig
from tests.controller.toy import controller, features

POINT = TargetConfig(0.4, 0.1)


def trained(model: Controller) -> Trained:
    return Trained(model, POINT, 1.0, {}, Fingerprints("", "", ""), {})


def plain(
    model: Controller, pool: PoolFeatures, chosen: list[int]
) -> tuple[torch.Tensor, torch.Tensor]:
    spent = sum(int(pool.tokens[place]) for place in chosen)
    budget = budget_features(
        *(
            np.array([value], np.float32)
            for value in (spent / L_REF, pool.max_records - len(chosen), pool.room - spent)
        )
    )
    states = States(
        torch.tensor([0]),
        torch.tensor([chosen or [0]]),
        torch.tensor([len(chosen)]),
        torch.from_numpy(budget),
    )
    requests = collate_requests([pool], model.tasks)
    with torch.no_grad():
        actions, stop = model(requests, model.encode(requests), states)
    return actions[0, : len(pool.tokens)], stop[0]


@pytest.mark.parametrize(
    "changes", [{}, {"ordered": False}, {"single_head": True}, {"features": False}]
)
def test_10_000_random_states(changes: dict[str, object]) -> None:
    """2,500 states of each variant."""
    model = controller(**changes)  # type: ignore[arg-type]
    for parameter in model.parameters():  # livelier than fresh weights
        torch.nn.init.normal_(parameter, std=0.3)
    fast, rng, states = FastController(trained(model)), np.random.default_rng(0), 0
    while states < 2500:
        pool = features(int(rng.integers(1, 9)), seed=int(rng.integers(1000)))
        walk = fast.start(pool)
        while True:
            states += 1
            actions, stop = plain(model, pool, walk.chosen)
            values = walk.values()
            np.testing.assert_allclose(values.actions, actions.numpy(), atol=1e-5, rtol=1e-5)
            np.testing.assert_allclose(values.stop, stop.numpy(), atol=1e-5, rtol=1e-5)
            net = net_value(actions, POINT.beta, POINT.lambda_).numpy()
            assert _choice(walk, net) == _choice(walk, values.net)
            left = np.flatnonzero(walk.feasible)
            if not len(left):
                break
            walk.take(int(rng.choice(left)))


def _choice(walk: Walk, net: Floats) -> int:
    return int(np.where(walk.feasible, net, -np.inf).argmax())


def test_rules_of_the_walk() -> None:
    pool = features(4, tokens=(100, 450, 100, 100))
    walk = FastController(trained(controller())).start(pool)
    assert walk.feasible.tolist() == [True] * 4
    walk.take(0)
    assert walk.feasible.tolist() == [False, False, True, True]  # 450 more do not fit into 500
    walk.take(3)
    walk.take(2)
    assert not walk.feasible.any()
    assert walk.tokens == 300


def test_an_empty_pool_stops() -> None:
    values = FastController(trained(controller())).start(features(0)).values()
    assert values.net.shape == (0,)
    assert values.net_stop == 0.0
