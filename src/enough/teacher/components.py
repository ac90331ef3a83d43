"""From likelihoods to the three components of every profile: gain, specificity, cost.

In: a `ScoredTree`. Out: g, p and c of all its profiles, raw or divided by the task's scales. No
generator is called: everything here can be done again for other settings at no cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.errors import ConfigError
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.utility import (
    Values,
    gain,
    net_objective,
    normalised,
    profile_specificity,
    slot_specificity,
    utility,
)


@dataclass(frozen=True, slots=True)
class TargetConfig:
    """The operating point.

    Attributes:
        beta: β, the weight of specificity.
        lambda_: λ, the price of L_ref = 1024 tokens.
    """

    beta: float = 0.4
    lambda_: float = 0.10

    def __post_init__(self) -> None:
        for name in ("beta", "lambda_"):
            value = float(getattr(self, name))
            if not (math.isfinite(value) and value >= 0):
                key = name.removesuffix("_")
                raise ConfigError(f"targets.{key} must be a number of at least 0, not {value}")
            object.__setattr__(self, name, value)  # 1 and 1.0 are one operating point


@dataclass(frozen=True, slots=True)
class Scale:
    """s_τ of one task: what one unit of normalised gain and specificity is worth."""

    gain: float
    specificity: float


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """g, p and c of n profiles; all zero for the empty one.

    Attributes:
        is_specificity_known: a slot of the profile was looked at, or the gate makes p zero. Where
            it is false no record of the profile could be matched, and p = 0 means "no evidence".
    """

    gain: Values
    specificity: Values
    cost: Values
    is_specificity_known: NDArray[np.bool_]

    def net(self, point: TargetConfig) -> Values:
        """J of every profile."""
        return net_objective(
            utility(self.gain, self.specificity, point.beta), self.cost, point.lambda_
        )


def raw_components(tree: ScoredTree) -> Components:
    """Components in units of log-likelihood and of L_ref."""
    gains = gain(tree.log_likelihood, tree.log_likelihood[0])
    counted = tree.slots.counts_for
    owners = tree.slots.node[counted]
    p = profile_specificity(gains, owners, slot_values(tree)[counted])
    known = gains <= 0
    known[owners] = True
    return Components(gains, p, tree.cost, known)


def slot_values(tree: ScoredTree) -> Values:
    """ρ of every slot that was looked at, [m]."""
    slots = tree.slots
    return slot_specificity(tree.log_likelihood[slots.node], slots.without, slots.controls)


def scaled_components(tree: ScoredTree, scale: Scale) -> Components:
    """Components as targets have them: ḡ, p̄ and c."""
    raw = raw_components(tree)
    return Components(
        normalised(raw.gain, scale.gain),
        normalised(raw.specificity, scale.specificity),
        raw.cost,
        raw.is_specificity_known,
    )
