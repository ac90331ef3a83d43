"""Every loss of "Controller optimization" by hand, named after its equation."""

from __future__ import annotations

import math

import pytest
import torch

from enough.controller.losses import (
    LossConfig,
    net_value,
    rank_loss,
    stop_loss,
    stop_margin,
    value_loss,
)
from enough.errors import ConfigError

YES, NO = True, False


def test_net_q() -> None:
    values = torch.tensor([[1.0, 0.5, 2.0], [0.0, -1.0, 0.0]])
    # 1 + 0.4·0.5 − 0.1·2 and 0 − 0.4
    assert net_value(values, 0.4, 0.1).tolist() == pytest.approx([1.0, -0.4])
    assert net_value(torch.tensor([[3.0]]), 0.4, 0.1).tolist() == [3.0]


def test_value_loss() -> None:
    """Two labelled pairs. Errors 0.5 (quadratic: 0.125) and 3 (linear: 3 − 0.5 = 2.5), w = 1, 2."""
    predicted = torch.zeros(1, 2, 3)
    target = torch.tensor([[[0.5, 0.0, 0.0], [0.0, 3.0, 0.0]]])
    labelled = torch.ones(1, 2, 3, dtype=torch.bool)
    config = LossConfig(component_weights=(1.0, 2.0, 1.0), huber_delta=1.0)
    assert value_loss(predicted, target, labelled, config).item() == pytest.approx(
        (0.125 + 2 * 2.5) / 2
    )


def test_value_loss_leaves_out_what_has_no_label() -> None:
    predicted = torch.zeros(1, 2, 3)
    target = torch.tensor([[[1.0, 9.0, 0.0], [9.0, 9.0, 9.0]]])
    labelled = torch.tensor([[[YES, NO, YES], [NO, NO, NO]]])
    assert value_loss(predicted, target, labelled, LossConfig()).item() == pytest.approx(0.5)


def test_rank_loss() -> None:
    """p* = softmax(ln 3, 0) = (3/4, 1/4), p_θ = (1/2, 1/2); the third action has no label."""
    target = torch.tensor([[math.log(3) * 0.5, 0.0, 7.0]])
    predicted = torch.tensor([[1.0, 1.0, 5.0]])
    labelled = torch.tensor([[YES, YES, NO]])
    expected = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    assert rank_loss(predicted, target, labelled, 0.5).item() == pytest.approx(expected)


def test_rank_loss_needs_two_actions_and_is_zero_where_values_agree() -> None:
    values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]])
    labelled = torch.tensor([[YES, YES, YES], [YES, NO, NO]])
    assert rank_loss(values, values, labelled, 0.5).item() == pytest.approx(0.0)
    assert rank_loss(values, values + 5, labelled, 0.5).item() == pytest.approx(0.0, abs=1e-6)


def test_stop_margin() -> None:
    net = torch.tensor([[0.5, 2.0, 9.0, 1.0]])  # three records, then STOP
    assert stop_margin(net, torch.tensor([[YES, YES, NO]])).tolist() == [1.0 - 2.0]


def test_stop_loss() -> None:
    """Target σ(ln 3 / 1) = 3/4 against a margin of 0, σ = 1/2; the other state does not count."""
    margin, target = torch.tensor([0.0, 5.0]), torch.tensor([math.log(3), math.nan])
    found = stop_loss(margin, target, torch.tensor([YES, NO]), 1.0)
    assert found.item() == pytest.approx(math.log(2))
    halved = stop_loss(margin, target, torch.tensor([YES, NO]), 0.5)  # margins count twice
    assert halved.item() == pytest.approx(math.log(2))


def test_stop_loss_gradient_pulls_the_margin_to_the_target() -> None:
    margin = torch.tensor([0.0], requires_grad=True)
    stop_loss(margin, torch.tensor([math.log(3)]), torch.tensor([YES]), 1.0).backward()  # type: ignore[no-untyped-call]
    assert margin.grad is not None
    assert margin.grad.item() == pytest.approx(0.5 - 0.75)


def test_unusable_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="rank_temperature"):
        LossConfig(rank_temperature=0)
    with pytest.raises(ConfigError, match="negative"):
        LossConfig(stop=-1)
