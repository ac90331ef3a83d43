"""Value, ranking and stopping losses of the controller (Eqs. value-loss to total-loss).

In: predicted and target values of states, with masks. Out: scalars.

Shapes: B states, A actions with STOP as the last one, 3 components (gain, specificity, cost).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, huber_loss, log_softmax, softmax

from enough.errors import ConfigError

_NEVER = -1e9


@dataclass(frozen=True, slots=True)
class LossConfig:
    """Weights and temperatures.

    Attributes:
        component_weights: w_k of gain, specificity and cost.
        huber_delta: where the Huber loss turns linear.
        rank: η, weight of the ranking loss; 0 leaves it out. The paper's is 0.2.
        stop: ζ, weight of the stopping loss; 0 leaves it out.
        rank_temperature: T_r.
        stop_temperature: T_s while training; for probabilities it is fitted afterwards.
    """

    component_weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    huber_delta: float = 1.0
    rank: float = 0.5
    stop: float = 0.4
    rank_temperature: float = 0.5
    stop_temperature: float = 0.5

    def __post_init__(self) -> None:
        for name in ("huber_delta", "rank_temperature", "stop_temperature"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"loss.{name} must be above 0, not {getattr(self, name)}")
        if min(*self.component_weights, self.rank, self.stop) < 0:
            raise ConfigError("weights of losses must not be negative")


def value_loss(predicted: Tensor, target: Tensor, labelled: Tensor, config: LossConfig) -> Tensor:
    """Σ_k w_k Huber(Q^k, R^k), mean over labelled (state, action) pairs  [value-loss].

    Args:
        predicted: [B, A, 3].
        target: [B, A, 3].
        labelled: which components of which pairs have a target, [B, A, 3].
        config: weights and δ.
    """
    each = huber_loss(predicted, target, reduction="none", delta=config.huber_delta)
    weights = each.new_tensor(config.component_weights)
    pairs = labelled.any(2).sum().clamp(min=1)
    return (each * weights * labelled).sum() / pairs


def rank_loss(predicted: Tensor, target: Tensor, labelled: Tensor, temperature: float) -> Tensor:
    """KL(p* ‖ p_θ) over the labelled actions of a state, mean over states  [rank-loss].

    Args:
        predicted: net values, [B, A].
        target: net values, [B, A].
        labelled: A_lab(s), [B, A]. States with fewer than two labelled actions do not count.
        temperature: T_r.
    """
    log_p = log_softmax((predicted / temperature).masked_fill(~labelled, _NEVER), dim=1)
    wanted = softmax((target / temperature).masked_fill(~labelled, _NEVER), dim=1)
    log_wanted = log_softmax((target / temperature).masked_fill(~labelled, _NEVER), dim=1)
    divergence = (wanted * (log_wanted - log_p) * labelled).sum(1)  # [B]
    counts = labelled.sum(1) > 1
    return (divergence * counts).sum() / counts.sum().clamp(min=1)


def stop_loss(margin: Tensor, target: Tensor, counts: Tensor, temperature: float) -> Tensor:
    """BCE(σ(Δ_θ/T_s), σ(Δ_T/T_s)), mean over fully expanded states  [stop-loss].

    Args:
        margin: predicted, [B].
        target: the teacher's, [B]; anything where it does not count.
        counts: fully expanded states with a record action, [B].
        temperature: T_s.
    """
    wanted = torch.sigmoid(torch.where(counts, target, torch.zeros_like(target)) / temperature)
    each = binary_cross_entropy_with_logits(margin / temperature, wanted, reduction="none")
    return (each * counts).sum() / counts.sum().clamp(min=1)


def stop_margin(net: Tensor, feasible: Tensor) -> Tensor:
    """Δ(s) = Q_net(s, STOP) − max over feasible records  [stop-margin].

    Args:
        net: of all actions, STOP the last, [B, A].
        feasible: which records may be taken, [B, A - 1].
    """
    return net[:, -1] - net[:, :-1].masked_fill(~feasible, _NEVER).amax(1)


def net_value(values: Tensor, beta: float, lambda_: float) -> Tensor:
    """Q_net = Q^g + β·Q^p − λ·Q^c over the last dimension; a single head is one  [net-q]."""
    if values.shape[-1] == 1:
        return values[..., 0]
    return values[..., 0] + beta * values[..., 1] - lambda_ * values[..., 2]
