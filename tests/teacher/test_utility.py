"""Every equation of "Dual Counterfactual Profile Utility", by hand on one small example.

One reference, pool records a and b, ℓ(∅) = −4, ℓ(a) = −3, ℓ(b) = −5, ℓ(a, b) = −2, and two controls
for each slot.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.teacher.utility import (
    EPSILON,
    gain,
    net_objective,
    normalised,
    profile_specificity,
    scale,
    slot_specificity,
    utility,
)
from tests.teacher.cases import tree_of_values

EMPTY, A, B, AB = -4.0, -3.0, -5.0, -2.0


def test_task_gain() -> None:
    assert gain([EMPTY, A, B, AB], EMPTY).tolist() == [0.0, 1.0, -1.0, 2.0]


def test_g_normalization_is_scale_only() -> None:
    s = scale([1.0, -1.0, 2.0])
    assert s == pytest.approx(math.sqrt((1 + 1 + 4) / 3))  # no mean subtracted
    assert normalised([0.0, 1.0], s).tolist() == [0.0, 1.0 / (s + EPSILON)]


def test_the_scale_has_a_floor() -> None:
    assert scale([0.001, -0.001], floor=0.05) == 0.05
    assert scale([1.0, -1.0], floor=0.05) == 1.0
    assert scale([], floor=0.05) == 0.05


def test_slot_specificity() -> None:
    """Slot 1 of (a, b): without a ℓ = −5; with a ℓ = −2, so Δᵘ = 3; controls −4.5 and −6."""
    # [3]₊ − ([0.5]₊ + [−1]₊) / 2 = 3 − 0.25
    assert slot_specificity([AB], [B], [[-4.5, -6.0]]).tolist() == [2.75]


def test_slot_specificity_of_a_record_that_harms() -> None:
    """b alone: Δᵘ = −1 counts as 0, a control that helps by 0.5 counts against it."""
    assert slot_specificity([B], [EMPTY], [[-3.5, -4.5]]).tolist() == [-0.25]


def test_profile_specificity_averages_slots() -> None:
    """(a, b): ρ₁ = 2.75 as above; ρ₂ = [−2 − −3]₊ − ([−2.5 − −3]₊ + [−4 − −3]₊)/2 = 0.75."""
    rho = slot_specificity([AB, AB], [B, A], [[-4.5, -6.0], [-2.5, -4.0]])
    assert rho.tolist() == [2.75, 0.75]
    assert profile_specificity([2.0], [0, 0], rho).tolist() == [1.75]


def test_profile_specificity_is_gated_by_positive_gain() -> None:
    gains = [0.0, 1.0, -1.0, 0.0]
    values = profile_specificity(gains, [1, 2, 3], [0.5, 0.5, 0.5])
    assert values.tolist() == [0.0, 0.5, 0.0, 0.0]


def test_profile_specificity_of_the_empty_profile_and_of_unmatched_ones_is_zero() -> None:
    assert profile_specificity([0.0, 1.0], [], []).tolist() == [0.0, 0.0]


def test_profile_specificity_may_be_negative() -> None:
    """The profile helps, but others' records in its place would have helped more."""
    rho = slot_specificity([A], [EMPTY], [[-2.0, -2.0]])
    assert profile_specificity([1.0], [0], rho).tolist() == [-1.0]


def test_utility() -> None:
    assert utility([1.5], [-0.5], beta=0.4).tolist() == [1.5 - 0.4 * 0.5]


def test_cost_and_net_objective() -> None:
    """a takes 256 tokens, b 512: c = 0, 256/1024, 512/1024, 768/1024, in any order of records."""
    likelihoods = {(): EMPTY, (0,): A, (1,): B, (0, 1): AB, (1, 0): AB}
    cost = tree_of_values(likelihoods, record_tokens=(256, 512), max_records=2).cost
    assert cost.tolist() == [0.0, 0.25, 0.5, 0.75, 0.75]
    net = net_objective([0.0, 1.3, 1.3, 2.0, 2.0], cost, lambda_=0.1)
    assert net.tolist() == pytest.approx([0.0, 1.275, 1.25, 1.925, 1.925])


@given(
    st.lists(
        st.tuples(*[st.integers(-24, 0).map(lambda n: n / 8) for _ in range(5)]),
        min_size=1,
        max_size=6,
    )
)
def test_the_average_of_one_slot_values_is_the_all_slots_value(
    slots: list[tuple[float, float, float, float, float]],
) -> None:
    """The formula alone; `test_specificity` shows it for what is drawn and stored."""
    profile = 0.125
    without = [slot[0] for slot in slots]
    rho = slot_specificity([profile] * len(slots), without, [slot[1:4] for slot in slots])
    full = profile_specificity([1.0], np.zeros(len(slots)), rho)[0]
    drawn = [profile_specificity([1.0], [0], [rho[r]])[0] for r in range(len(slots))]
    assert np.mean(drawn) == pytest.approx(full)
