"""Dual counterfactual profile utility: gain, specificity, scales, U, cost and J (paper, 3.3).

In: mean log-likelihoods ℓ of one reference under several profiles. Out: what each profile is worth.
All functions work on arrays of profiles. Names in brackets are the paper's equation labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]
EPSILON = 1e-8
"""Keeps a scale of exactly zero from dividing by zero."""


def gain(profile: ArrayLike, empty: ArrayLike) -> Values:
    """g_i(S) = ℓ_i(S) − ℓ_i(∅)  [task-gain]."""
    return np.asarray(profile, np.float64) - np.asarray(empty, np.float64)


def slot_specificity(profile: ArrayLike, without: ArrayLike, controls: ArrayLike) -> Values:
    """ρ_{i,r}(S) = [Δᵘ]₊ − mean over k of [Δᶜᵏ]₊  [slot-specificity].

    Args:
        profile: ℓ_i(S), [n].
        without: ℓ_i(S₋ᵣ), the slot's record taken out, [n].
        controls: ℓ_i of S with slot r filled by each matched record of another user, [n, K⁻].
    """
    left_out = np.asarray(without, np.float64)
    own = np.maximum(np.asarray(profile, np.float64) - left_out, 0.0)
    others = np.maximum(np.asarray(controls, np.float64) - left_out[..., None], 0.0)
    count = max(others.shape[-1], 1)  # no controls at all: there is no slot to look at either
    return np.asarray(own - others.sum(axis=-1) / count, np.float64)


def profile_specificity(
    gains: ArrayLike, profile_of_slot: ArrayLike, slot_values: ArrayLike
) -> Values:
    """p_i(S) = 1[g_i(S) > 0] · mean of ρ over the slots looked at; p(∅) = 0  [profile-specificity].

    With all slots it is the paper's average, with one uniformly drawn slot its unbiased estimate.
    A profile of which no slot could be matched gets no credit.

    Args:
        gains: g_i of every profile, [n].
        profile_of_slot: which profile each looked-at slot belongs to, [m].
        slot_values: ρ of each looked-at slot, [m].
    """
    g = np.asarray(gains, np.float64)
    owner = np.asarray(profile_of_slot, np.int64)
    count = np.bincount(owner, minlength=len(g))
    total = np.bincount(owner, weights=np.asarray(slot_values, np.float64), minlength=len(g))
    mean = np.divide(total, count, out=np.zeros(len(g)), where=count > 0)
    return np.where(g > 0, mean, 0.0)


def scale(values: ArrayLike, floor: float = 0.0) -> float:
    """s_τ = sqrt(E[v²]), no mean subtracted, and never below the floor  [g-normalization].

    The floor is tied to the scorer's numerical noise: a task whose values are noise would otherwise
    be blown up to the size of one with signal.
    """
    v = np.asarray(values, np.float64)
    root_mean_square = float(np.sqrt(np.mean(v**2))) if v.size else 0.0
    return max(root_mean_square, floor)


def normalised(values: ArrayLike, by: float) -> Values:
    """V / (s + ε): zero stays zero."""
    return np.asarray(values, np.float64) / (by + EPSILON)


def utility(gains: ArrayLike, specificity: ArrayLike, beta: float) -> Values:
    """U_i(S) = ḡ + β·p̄, both normalised  [utility]."""
    return np.asarray(gains, np.float64) + beta * np.asarray(specificity, np.float64)


def net_objective(utilities: ArrayLike, cost: ArrayLike, lambda_: float) -> Values:
    """J_i^λ(S) = U_i(S) − λ·c_i(S)  [net-objective]."""
    return np.asarray(utilities, np.float64) - lambda_ * np.asarray(cost, np.float64)
