"""Scales on the initial branches, their floor, and the variance of the two estimators."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from enough.errors import ConfigError
from enough.teacher.calibration import CalibrationConfig, calibrate, calibration_subset
from enough.teacher.estimator_variance import estimator_variance
from enough.teacher.specificity import SlotScores
from tests.teacher.cases import tree_of_values

TREE = tree_of_values({(): -4.0, (0,): -3.0, (1,): -6.0, (0, 1): 0.0}, (10, 10), 2)


def test_scales_are_root_mean_squares_of_initial_branches() -> None:
    tree = dataclasses.replace(TREE, is_initial=np.array([True, True, True, False]))
    found = calibrate([tree], [], CalibrationConfig())
    assert found.scale.gain == pytest.approx(math.sqrt((1 + 4) / 2))  # ∅ and deeper ones left out
    assert (found.requests, found.profiles) == (1, 2)


def test_a_task_without_signal_stays_small() -> None:
    """Two ways of computing differ by 0.05: so may a gain. The floor is ten times that."""
    found = calibrate([TREE], [0.05, -0.05], CalibrationConfig(noise_factor=10))
    assert found.noise == pytest.approx(0.05)
    assert found.scale.specificity == found.floor == pytest.approx(0.5)
    assert found.scale.gain == found.measured_gain > found.floor


def test_the_calibration_subset_does_not_depend_on_order() -> None:
    names = [f"q{i}" for i in range(50)]
    chosen = calibration_subset(names, 10)
    assert len(chosen) == 10
    assert chosen == calibration_subset(reversed(names), 10)


def test_unusable_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="requests"):
        CalibrationConfig(requests=0)
    with pytest.raises(ConfigError, match="noise_factor"):
        CalibrationConfig(noise_factor=-1)


def test_variance_of_both_estimators() -> None:
    """(a, b) with ℓ = 0: slot 0 ρ = 4 − mean(1, 3) = 2, slot 1 ρ = 4 − mean(2, 2) = 2 … by hand.

    Without the slot ℓ = −4; controls −3, −1 and −2, −2. Slots do not differ (variance 0); controls
    of slot 0 have a variance of 2, so its mean has 1; slot 1 has 0. All slots: (1 + 0)/4 = 0.25.
    One slot: 0 + 0.25, the part of that noise which the spread of two slots does not show.
    """
    slots = SlotScores(
        node=np.array([3, 3], np.int32),
        slot=np.array([0, 1], np.uint8),
        without=np.array([-4, -4], np.float32),
        controls=np.array([[-3, -1], [-2, -2]], np.float32),
        counts_for=np.array([True, False]),
    )
    found = estimator_variance([dataclasses.replace(TREE, slots=slots)])
    assert dataclasses.astuple(found) == (1, 2.0, 0.25, 0.25)


def test_variances_are_those_of_repeated_draws() -> None:
    """Four slots of true ρ 1, 2, 3, 4 and three noisy controls each: what drawing again shows."""
    rng = np.random.default_rng(0)
    truth, noise, draws = np.array([1.0, 2.0, 3.0, 4.0]), 0.9, 4000
    controls = rng.normal(0, noise, (draws, 4, 3))
    estimates = truth + controls.mean(axis=2)  # [draws, 4]
    one = estimates[np.arange(draws), rng.integers(4, size=draws)]
    trees = []
    for drawn in controls[:400]:
        slots = SlotScores(
            node=np.full(4, 3, np.int32),
            slot=np.arange(4, dtype=np.uint8),
            without=np.full(4, -20, np.float32),  # far below every control, so nothing is cut off
            controls=(-truth[:, None] - drawn).astype(np.float32),
            counts_for=np.array([True, False, False, False]),
        )
        trees.append(dataclasses.replace(TREE, slots=slots))
    found = estimator_variance(trees)
    assert found.one_slot == pytest.approx(one.var(), rel=0.08)
    assert found.all_slots == pytest.approx(estimates.mean(axis=1).var(), rel=0.1)


def test_variance_needs_whole_profiles() -> None:
    assert estimator_variance([TREE]).profiles == 0
