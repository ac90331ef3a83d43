"""The scales s_τ of a task, fixed once, and the numerical noise they must not fall below.

In: the trees of one task and differences between two ways of scoring. Out: `Calibration`.
Scales are root mean squares over the initial branches (roots and their children) of a fixed subset
of requests; no mean is subtracted, so the empty profile stays at zero.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from enough.errors import ConfigError
from enough.teacher.components import Scale, raw_components
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.utility import scale


@dataclass(frozen=True, slots=True)
class CalibrationConfig:
    """How scales are fixed.

    Attributes:
        requests: of each task, drawn by the hash of their ids.
        noise_factor: a scale is at least this many times the scorer's numerical noise.
    """

    requests: int = 200
    noise_factor: float = 10.0

    def __post_init__(self) -> None:
        if self.requests < 1:
            raise ConfigError(f"calibration.requests must be at least 1, not {self.requests}")
        if not (math.isfinite(self.noise_factor) and self.noise_factor >= 0):
            raise ConfigError(
                f"calibration.noise_factor must be a number of at least 0, not {self.noise_factor}"
            )


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured for one task.

    Attributes:
        scale: s^g and s^p, floors applied.
        noise: root mean square of what another way of computing changes in a gain.
        floor: what the scales are at least.
        measured_gain, measured_specificity: the scales without the floor.
        requests, profiles: how many they were measured on.
    """

    scale: Scale
    noise: float
    floor: float
    measured_gain: float
    measured_specificity: float
    requests: int
    profiles: int


def calibration_subset(requests: Iterable[str], count: int) -> frozenset[str]:
    """The requests a task is calibrated on: the same ones in whatever order they come."""

    def drawn(name: str) -> bytes:
        return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()

    ordered = sorted(set(requests), key=drawn)
    return frozenset(ordered[:count])


def calibrate(
    trees: Iterable[ScoredTree], differences: Sequence[float], config: CalibrationConfig
) -> Calibration:
    """Scales from the initial branches of the given trees, the empty profiles left out."""
    gains: list[float] = []
    specificities: list[float] = []
    requests = 0
    for tree in trees:
        chosen = tree.is_initial & (tree.lengths > 0)
        found = raw_components(tree)
        gains += found.gain[chosen].tolist()
        specificities += found.specificity[chosen & found.is_specificity_known].tolist()
        requests += 1
    # Two ways of computing differ by two errors, and so does a gain, of two likelihoods.
    noise = float(np.sqrt(np.mean(np.square(differences)))) if len(differences) else 0.0
    floor = config.noise_factor * noise
    return Calibration(
        scale=Scale(scale(gains, floor), scale(specificities, floor)),
        noise=noise,
        floor=floor,
        measured_gain=scale(gains),
        measured_specificity=scale(specificities),
        requests=requests,
        profiles=len(gains),
    )
