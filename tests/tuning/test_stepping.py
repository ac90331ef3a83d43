"""Steps get their data in order, and a loss that is no number is told of by its step."""

from __future__ import annotations

import threading

import pytest
import torch

from enough.errors import ModelError
from enough.tuning.stepping import StepLosses, made_ahead

CPU = torch.device("cpu")
ELSEWHERE = torch.device("meta")  # any device but the CPU: losses are read late


def test_the_next_step_is_made_while_one_is_used() -> None:
    is_made = {step: threading.Event() for step in range(3, 7)}

    def make(step: int) -> int:
        is_made[step].set()
        return step * step

    found = []
    for step, made in zip(range(3, 7), made_ahead(make, range(3, 7)), strict=True):
        if step < 6:
            assert is_made[step + 1].wait(10)
        found.append(made)
    assert found == [9, 16, 25, 36]
    assert list(made_ahead(make, range(3, 3))) == []


def test_an_error_in_making_reaches_the_step_it_was_made_for() -> None:
    def make(step: int) -> int:
        if step == 1:
            raise ValueError("no data")
        return step

    steps = made_ahead(make, range(3))
    assert next(steps) == 0
    with pytest.raises(ValueError, match="no data"):
        next(steps)


@pytest.mark.parametrize("device", [CPU, ELSEWHERE])
def test_losses_come_back_in_order_behind_those_of_before(device: torch.device) -> None:
    losses = StepLosses(12, device, "look")
    losses.restore(torch.tensor([5.0, 4.0]))
    for value in range(10):
        losses.add(torch.tensor(float(value)))
    assert losses.so_far().tolist() == [5.0, 4.0, *map(float, range(10))]
    assert losses.recent(2) == "loss 8.500"


def test_elsewhere_losses_are_read_eight_at_a_time() -> None:
    losses = StepLosses(9, ELSEWHERE, "look")
    for _ in range(7):
        losses.add(torch.tensor(1.0))
    assert not losses.recent(20)
    losses.add(torch.tensor(1.0))
    assert losses.recent(20) == "loss 1.000"


@pytest.mark.parametrize("device", [CPU, ELSEWHERE])
def test_a_loss_that_is_no_number_names_its_step(device: torch.device) -> None:
    losses = StepLosses(4, device, "lower the rate")
    with pytest.raises(ModelError, match=r"the loss of step 2 is not a number; lower the rate"):
        for value in (1.0, float("nan"), 1.0):
            losses.add(torch.tensor(value))
        losses.so_far()
