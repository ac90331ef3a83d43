"""ROPG (arXiv 2404.05970): a retriever that learns from what single records are worth.

In: what each pool record is worth alone. Out: trained towers; then the first k records they find in
the legal history, one call. Knowledge distillation minimises the cross-entropy of softmax(score/T)
against softmax(worth/T). Reinforcement draws one record, with the reward worth(it) − worth(first
record of the frozen retriever).

Differs from the source: its loss takes probabilities for logits, so that softmax is applied twice;
here it is once. It fine-tunes Contriever; here small towers stand on frozen vectors. Its feedback
is the task's metric (`feedback = "metric"`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from enough.baselines.feedback import FeedbackKind, Rated, rate_records
from enough.baselines.fitting import FittingConfig, fit, require_lessons, weights_of
from enough.baselines.fixed import FixedLength
from enough.baselines.method_files import Learned, Weights, load_learned, save_learned
from enough.baselines.one_call import OneCall
from enough.baselines.tools import Material, Tools
from enough.baselines.towers import EVERY, Taught, Towers, TrainedRetriever, cross_entropy
from enough.config import require_at_least
from enough.progress import OnStep
from enough.protocols import Encoder, Method

KIND = "ropg-kd"

ToFitAndChoose = tuple[list[Rated], list[Rated]]
"""Rated lessons to fit on, and those of other users to choose on."""


@dataclass(frozen=True, slots=True)
class ROPGKDConfig:
    """ROPG by knowledge distillation.

    Attributes:
        k: records in the profile.
        feedback: what a record is worth by.
        temperature: T, of scores and of worth; the source's is 1, for metrics, which would level
            likelihoods: they differ by hundredths of a nat.
        fit: how the towers are fitted.
    """

    k: int = 5
    feedback: FeedbackKind = "likelihood"
    temperature: float = 0.1
    fit: FittingConfig = field(default_factory=FittingConfig)

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1, "temperature": 1e-6})

    @property
    def of_weights(self) -> dict[str, Any]:
        """The settings that shape the weights: any k can be read off one ranking."""
        return {name: value for name, value in asdict(self).items() if name != "k"}

    def train(
        self, material: Material, tools: Tools, folder: Path, on_step: OnStep
    ) -> dict[str, Any]:
        """Rate all records of all pools, then distil."""
        rated = rate_material(material, self.feedback, tools, on_step, KIND)
        weights, report = distil(rated, tools, self.temperature, self.fit, on_step)
        report |= {"lessons": len(rated[0]), "chosen_on": len(rated[1])}
        save_learned(folder, Learned(KIND, self.of_weights, weights, report), tools)
        return report

    def build(self, tools: Tools) -> Method:
        """The first k records of the trained retriever."""
        learned = load_learned(tools.trained_folder, KIND, self.of_weights, tools)
        retriever = TrainedRetriever(learned.weights, tools.encoder, self.temperature)
        return OneCall(FixedLength(self.k), tools, retriever)


def rate_material(
    material: Material, feedback: FeedbackKind, tools: Tools, on_step: OnStep, method: str
) -> ToFitAndChoose:
    """The lessons to fit on and those to choose on, rated in common calls, once."""
    key = (feedback, tools.generator.fingerprint)
    if key not in material.rated:
        lessons = [*material.fit, *material.select]
        material.rated[key] = rate_records(lessons, feedback, tools, on_step)
    rated: list[Rated] = material.rated[key]
    to_fit = {id(lesson) for lesson in material.fit}
    fit_on = [one for one in rated if id(one.lesson) in to_fit]
    choose_on = [one for one in rated if id(one.lesson) not in to_fit]
    require_lessons(fit_on, choose_on, method)
    return fit_on, choose_on


def distil(
    rated: ToFitAndChoose,
    tools: Tools,
    temperature: float,
    config: FittingConfig,
    on_step: OnStep,
) -> tuple[Weights, dict[str, Any]]:
    """Towers by knowledge distillation, and how it went."""
    taught, judged, towers = _prepared(rated, tools.encoder, temperature)

    def loss(lessons: NDArray[np.int64], _: np.random.Generator) -> Tensor:
        return cross_entropy(taught.targets(lessons, temperature), taught.scores(towers, lessons))

    def judge() -> float:
        targets = judged.targets(EVERY, temperature)
        return float(cross_entropy(targets, judged.scores(towers, EVERY)))

    report = fit(
        towers,
        len(rated[0]),
        loss,
        judge,
        config,
        seed=tools.seed,
        title="ROPG-KD: fitting",
        on_step=on_step,
    )
    return weights_of(towers), dict(report)


def reinforce(
    rated: ToFitAndChoose,
    tools: Tools,
    temperature: float,
    config: FittingConfig,
    on_step: OnStep,
) -> tuple[Weights, dict[str, Any]]:
    """Towers by REINFORCE, and how it went; chosen by the worth that is expected of a draw."""
    taught, judged, towers = _prepared(rated, tools.encoder, temperature)

    def loss(lessons: NDArray[np.int64], rng: np.random.Generator) -> Tensor:
        scores, worth = taught.scores(towers, lessons), taught.worth[lessons]
        drawn = draw_one(scores, rng)
        return reinforce_loss(scores, worth, drawn)

    def judge() -> float:
        shares = torch.softmax(judged.scores(towers, EVERY), dim=1)
        return -float(((shares * judged.worth).sum(dim=1) - judged.worth[:, 0]).mean())

    report = fit(
        towers,
        len(rated[0]),
        loss,
        judge,
        config,
        seed=tools.seed,
        title="ROPG-RL: fitting",
        on_step=on_step,
    )
    return weights_of(towers), dict(report)


def draw_one(scores: Tensor, rng: np.random.Generator) -> Tensor:
    """One record for each lesson, with probability softmax(scores), [b]."""
    noise = torch.from_numpy(rng.gumbel(size=tuple(scores.shape)))
    return (scores.detach() + noise).argmax(dim=1)


def reinforce_loss(scores: Tensor, worth: Tensor, drawn: Tensor) -> Tensor:
    """−reward · log π(drawn), mean over lessons; the first record of a pool is the baseline."""
    rows = torch.arange(len(drawn))
    reward = worth[rows, drawn] - worth[:, 0]
    return -(reward * torch.log_softmax(scores, dim=1)[rows, drawn]).mean()


def _prepared(
    rated: ToFitAndChoose, encoder: Encoder, temperature: float
) -> tuple[Taught, Taught, Towers]:
    taught, judged = (Taught.of(some, encoder) for some in rated)
    return taught, judged, Towers(taught.queries.shape[1], temperature)
