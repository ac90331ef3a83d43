"""PURPLE (arXiv 2601.12078): an ordered profile from a policy that learns from likelihoods.

In: the shared pool. Out: the k records with the highest scores, in that order, one call. A small
network without positions, so that the order of the pool does not matter, gives every record a score
s_j in (0, 1). Profiles are drawn by Plackett–Luce; the reward is the SUM of the reference's token
log-probabilities with the ordered profile in the prompt; advantages are normalised over the draws
of one request; REINFORCE on the log-probability of the draw.

Differs from the source: it chooses its checkpoint on the split that it reports; here it is chosen
on other users. Its network is twelve layers over token vectors of Contriever; here two of width 64
stand on one frozen vector per text. What does not fit the window is never drawn.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from enough.baselines.fitting import FittingConfig, fit, into_module, require_lessons, weights_of
from enough.baselines.method_files import Learned, load_learned, save_learned
from enough.baselines.one_call import OneCall
from enough.baselines.purple_network import PURPLESelector, new_network
from enough.baselines.purple_rollouts import Course
from enough.baselines.tools import Material, Tools
from enough.config import require_at_least
from enough.progress import OnStep
from enough.protocols import Method

KIND = "purple"


@dataclass(frozen=True, slots=True)
class PolicyFittingConfig(FittingConfig):
    """Fewer and smaller steps: each of them asks the generator."""

    steps: int = 40
    lessons: int = 4
    check_every: int = 10


@dataclass(frozen=True, slots=True)
class PURPLEConfig:
    """PURPLE's settings.

    Attributes:
        k: records in the profile.
        rollouts: profiles drawn for each request of a batch.
        fit: how the network is fitted; every step scores up to lessons × rollouts profiles.
    """

    k: int = 5
    rollouts: int = 8
    fit: PolicyFittingConfig = field(default_factory=PolicyFittingConfig)

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1, "rollouts": 2})

    def train(
        self, material: Material, tools: Tools, folder: Path, on_step: OnStep
    ) -> dict[str, Any]:
        """Fit the policy; of all looks the one with the best greedy profiles is kept."""
        fit_on, choose_on = (
            Course.of(lessons, tools, self.k) for lessons in (material.fit, material.select)
        )
        require_lessons(fit_on.subjects, choose_on.subjects, KIND)
        network = new_network(fit_on.dim, tools.seed)

        def loss(lessons: NDArray[np.int64], rng: np.random.Generator) -> Tensor:
            return fit_on.loss(network, lessons, self.rollouts, rng)

        report: dict[str, Any] = {
            **fit(
                network,
                len(fit_on.subjects),
                loss,
                lambda: -choose_on.greedy_reward(network),
                self.fit,
                seed=tools.seed,
                title="PURPLE: fitting",
                on_step=on_step,
            ),
            "lessons": len(fit_on.subjects),
            "chosen_on": len(choose_on.subjects),
            "profiles_scored": len(fit_on.known) + len(choose_on.known),
        }
        save_learned(folder, Learned(KIND, asdict(self), weights_of(network), report), tools)
        return report

    def build(self, tools: Tools) -> Method:
        """The k best records of the shared pool."""
        learned = load_learned(tools.trained_folder, KIND, asdict(self), tools)
        dim = (learned.weights["project.weight"].shape[1] - 1) // 3
        network = new_network(dim, seed=0)
        into_module(network, learned.weights)
        return OneCall(PURPLESelector(network, tools.encoder, self.k), tools)
