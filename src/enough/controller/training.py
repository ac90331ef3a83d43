"""Fit the controller to labelled requests (Eq. total-loss), stopping early on a selection split.

In: labelled requests with the targets of one backup. Out: a trained `Controller`. Batches draw
tasks uniformly, then requests, then states. Choices are made on requests that were not trained on.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from enough.config import require_at_least
from enough.controller.batches import Batch, Draw, make_batch
from enough.controller.examples import LabelledRequest, StateRows, state_rows
from enough.controller.losses import (
    LossConfig,
    net_value,
    rank_loss,
    stop_loss,
    stop_margin,
    value_loss,
)
from enough.controller.model import Controller, ModelConfig
from enough.teacher.backup import Targets
from enough.teacher.components import TargetConfig

OnCheck = Callable[[int, int, float], None]
"""Called with the step, the number of steps and the loss on the selection split."""


@dataclass(frozen=True, slots=True)
class FitConfig:
    """How the controller is fitted.

    Attributes:
        steps: at most.
        requests: in a batch.
        draw: states of each request in a batch.
        learning_rate, weight_decay: of AdamW; the rate falls to zero along a cosine.
        check_every: steps between looks at the selection split.
        patience: looks without a better loss before it ends.
        seed: for weights and batches.
    """

    steps: int = 1500
    requests: int = 32
    draw: Draw = field(default_factory=Draw)
    learning_rate: float = 2e-3
    weight_decay: float = 0.02
    check_every: int = 50
    patience: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"steps": 1, "requests": 1, "check_every": 1, "patience": 1, "seed": 0}
        require_at_least(self, least, "fit.")


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Requests and the rows of their states, for one kind of target."""

    requests: Sequence[LabelledRequest]
    rows: Sequence[StateRows]

    @classmethod
    def of(cls, requests: Sequence[LabelledRequest], targets: Sequence[Targets]) -> Labelled:
        """Rows from targets."""
        pairs = zip(requests, targets, strict=True)
        return cls(requests, [state_rows(request, target) for request, target in pairs])

    def some(self, places: Iterable[int]) -> Labelled:
        """Those at these places."""
        chosen = list(places)
        return Labelled([self.requests[i] for i in chosen], [self.rows[i] for i in chosen])

    def batch(
        self, places: Sequence[int], tasks: dict[str, int], draw: Draw, rng: np.random.Generator
    ) -> Batch:
        """A batch of these requests."""
        features = [self.requests[i].features for i in places]
        return make_batch(features, [self.rows[i] for i in places], tasks, draw, rng)


@dataclass(frozen=True, slots=True)
class Objective:
    """What is minimised: the losses at one operating point."""

    point: TargetConfig
    losses: LossConfig

    def __call__(self, model: Controller, batch: Batch) -> Tensor:
        """The total loss of a batch."""
        encoded = model.encode(batch.requests)
        actions, stop = model(batch.requests, encoded, batch.states)
        predicted = torch.cat([actions, stop[:, None]], dim=1)  # [B, A, 3 or 1]
        net = net_value(predicted, self.point.beta, self.point.lambda_)
        wanted = net_value(batch.target, self.point.beta, self.point.lambda_)
        is_labelled = batch.is_labelled[..., 0]
        if model.config.single_head:
            each = (net - wanted)[..., None].expand(-1, -1, 3) * batch.target.new_tensor([1, 0, 0])
            total = value_loss(each, torch.zeros_like(each), batch.is_labelled, self.losses)
        else:
            total = value_loss(predicted, batch.target, batch.is_labelled, self.losses)
        if self.losses.rank:
            temperature = self.losses.rank_temperature
            total = total + self.losses.rank * rank_loss(net, wanted, is_labelled, temperature)
        if self.losses.stop:
            margin = stop_margin(net, batch.is_feasible)
            counts = batch.is_full & batch.is_feasible.any(1)
            each_stop = stop_loss(margin, batch.stop_margin, counts, self.losses.stop_temperature)
            total = total + self.losses.stop * each_stop
        return total


def fit(
    model: Controller,
    train: Labelled,
    select: Labelled,
    objective: Objective,
    config: FitConfig,
    *,
    on_check: OnCheck | None = None,
) -> Controller:
    """Train in place; returns the model as it was when the selection loss was lowest."""
    rng = np.random.default_rng(config.seed)
    by_task = _by_task(train)
    watched = _watched(select, model.tasks, config)
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, config.steps)
    best, kept, waited = _mean_loss(model, watched, objective), _weights(model), 0
    for step in range(1, config.steps + 1):
        drawn = rng.integers(len(by_task), size=config.requests)
        places = [int(rng.choice(by_task[task])) for task in drawn]
        batch = train.batch(places, model.tasks, config.draw, rng)
        optimiser.zero_grad()
        loss = objective(model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % config.check_every == 0 or step == config.steps:
            found = _mean_loss(model, watched, objective)
            if on_check is not None:
                on_check(step, config.steps, found)
            waited += 1
            if found < best:
                best, kept, waited = found, _weights(model), 0
            if waited >= config.patience:
                break
    model.load_state_dict(kept)
    return model.eval()


def new_controller(config: ModelConfig, tasks: Sequence[str], seed: int) -> Controller:
    """Fresh weights; the same for a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Controller(config, tasks)


def _by_task(train: Labelled) -> list[list[int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for i, request in enumerate(train.requests):
        groups[request.features.task].append(i)
    return list(groups.values())


def _watched(select: Labelled, tasks: dict[str, int], config: FitConfig) -> list[Batch]:
    """Fixed batches of the selection split, every request once."""
    rng = np.random.default_rng(0)
    order = range(len(select.requests))
    size = config.requests
    return [
        select.batch(list(order[i : i + size]), tasks, config.draw, rng)
        for i in range(0, len(order), size)
    ]


@torch.no_grad()
def _mean_loss(model: Controller, batches: Sequence[Batch], objective: Objective) -> float:
    model.eval()
    values = [float(objective(model, batch)) for batch in batches]
    model.train()
    return float(np.mean(values)) if values else float("inf")


def _weights(model: Controller) -> dict[str, Tensor]:
    return copy.deepcopy(model.state_dict())
