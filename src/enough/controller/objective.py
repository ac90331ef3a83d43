"""What training minimises (Eq. total-loss): value, ranking and stopping losses of a batch.

In: a controller and a batch. Out: the total and its parts, as scalars with gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from enough.controller.batches import Batch
from enough.controller.losses import (
    LossConfig,
    net_value,
    rank_loss,
    stop_loss,
    stop_margin,
    value_loss,
)
from enough.controller.model import Controller
from enough.teacher.components import TargetConfig


@dataclass(frozen=True, slots=True)
class Objective:
    """The losses at one operating point."""

    point: TargetConfig
    losses: LossConfig

    def __call__(self, model: Controller, batch: Batch) -> Tensor:
        """The total loss of a batch."""
        return self.parts(model, batch)["loss"]

    def parts(self, model: Controller, batch: Batch) -> dict[str, Tensor]:
        """The total as "loss", and its parts before they are weighted; none that weighs 0."""
        encoded = model.encode(batch.requests)
        actions, stop = model(batch.requests, encoded, batch.states)
        predicted = torch.cat([actions, stop[:, None]], dim=1)  # [B, A, 3 or 1]
        net = net_value(predicted, self.point.beta, self.point.lambda_)
        wanted = net_value(batch.target, self.point.beta, self.point.lambda_)
        if model.config.single_head:
            each = (net - wanted)[..., None].expand(-1, -1, 3) * batch.target.new_tensor([1, 0, 0])
            value = value_loss(each, torch.zeros_like(each), batch.is_labelled, self.losses)
        else:
            value = value_loss(predicted, batch.target, batch.is_labelled, self.losses)
        parts = {"loss": value, "value": value}
        if self.losses.rank:
            is_labelled = batch.is_labelled[..., 0]
            parts["rank"] = rank_loss(net, wanted, is_labelled, self.losses.rank_temperature)
            parts["loss"] = parts["loss"] + self.losses.rank * parts["rank"]
        if self.losses.stop:
            margin = stop_margin(net, batch.is_feasible)
            counts = batch.is_full & batch.is_feasible.any(1)
            parts["stop"] = stop_loss(
                margin, batch.stop_margin, counts, self.losses.stop_temperature
            )
            parts["loss"] = parts["loss"] + self.losses.stop * parts["stop"]
        return parts
