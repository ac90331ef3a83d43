"""RSPG-Pre (arXiv 2404.05970): choose one of six retrieval strategies before anything is generated.

In: a request and its legal history. Out: the profile of the strategy with the highest score, one
call; "none" is one of them. For every lesson each strategy's whole profile is rated; the selector
learns KL(softmax(worth / T) ‖ softmax(scores)). The two trained retrievers are fitted first, on the
same lessons, and lie in the same file.

Differs from the source: it divides the student's log-probabilities by T, here T is that of the
targets. It reads every candidate prompt with a Longformer; here a small network sees the frozen
vectors of the request and of the records.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from enough.baselines.feedback import FeedbackKind, Profile, Rated, answer_room, rate_profiles
from enough.baselines.fitting import FittingConfig, fit, into_module, seeded, weights_of
from enough.baselines.method_files import Learned, Weights, load_learned, save_learned
from enough.baselines.ropg import distil, rate_material, reinforce
from enough.baselines.rspg_strategies import STRATEGIES, TRAINED, Strategies
from enough.baselines.tools import Material, Tools
from enough.baselines.towers import EVERY, divergence
from enough.config import require_at_least
from enough.progress import OnStep
from enough.protocols import Answered, Asked, Method

KIND = "rspg-pre"
_WIDTH = 64


@dataclass(frozen=True, slots=True)
class RSPGConfig:
    """RSPG-Pre's settings.

    Attributes:
        k: records of every strategy but "none".
        feedback: what records and profiles are worth by.
        temperature: T, of worth, and of the trained retrievers; likelihoods of records differ by
            hundredths of a nat, which T = 1, the source's for metrics, would level.
        fit: how the selector is fitted.
        retriever_fit: how the retrievers are.
    """

    k: int = 5
    feedback: FeedbackKind = "likelihood"
    temperature: float = 0.1
    fit: FittingConfig = field(default_factory=FittingConfig)
    retriever_fit: FittingConfig = field(default_factory=FittingConfig)

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1, "temperature": 1e-6})

    def train(
        self, material: Material, tools: Tools, folder: Path, on_step: OnStep
    ) -> dict[str, Any]:
        """Fit both retrievers, rate every strategy's profile of every lesson, fit the selector."""
        rated = rate_material(material, self.feedback, tools, on_step, KIND)
        weights: Weights = {}
        report: dict[str, Any] = {"lessons": len(rated[0]), "chosen_on": len(rated[1])}
        for name, learn in zip(TRAINED, (distil, reinforce), strict=True):
            towers, report[name] = learn(
                rated, tools, self.temperature, self.retriever_fit, on_step
            )
            weights |= {f"{name}.{part}": value for part, value in towers.items()}
        strategies = Strategies(weights, tools, self.k, self.temperature)
        fit_on, choose_on = (self._offers(some, strategies, tools, on_step) for some in rated)
        selector, report["selector"] = self._fit(fit_on, choose_on, tools.seed, on_step)
        report["chosen"] = _chosen(selector, choose_on)
        weights |= weights_of(selector, "selector.")
        save_learned(folder, Learned(KIND, asdict(self), weights, report), tools)
        return report

    def build(self, tools: Tools) -> Method:
        """The trained selector over its strategies."""
        learned = load_learned(tools.trained_folder, KIND, asdict(self), tools)
        strategies = Strategies(learned.weights, tools, self.k, self.temperature)
        selector = new_selector(strategies.width, seed=0)
        into_module(selector, learned.weights, "selector.")
        return RSPGPre(strategies, selector, tools)

    def _offers(
        self, rated: Sequence[Rated], strategies: Strategies, tools: Tools, on_step: OnStep
    ) -> Offers:
        """Every strategy's profile of every lesson, seen and rated."""
        profiles, seen = [], []
        for one in rated:
            asked = one.lesson.asked
            found = strategies.profiles(
                asked.request, asked.history, answer_room(one.lesson, tools)
            )
            profiles += [(one.lesson, records) for records in found]
            seen.append(strategies.features(asked.request, found))
        worth = rate_profiles(profiles, self.feedback, tools, on_step)
        table = torch.from_numpy(worth.astype(np.float32)).view(len(rated), len(STRATEGIES))
        targets = torch.softmax(table / self.temperature, dim=1)
        return Offers(torch.from_numpy(np.stack(seen)), targets)

    def _fit(
        self, fit_on: Offers, choose_on: Offers, seed: int, on_step: OnStep
    ) -> tuple[nn.Module, dict[str, float]]:
        selector = new_selector(fit_on.seen.shape[2], seed)

        def loss(lessons: NDArray[np.int64], _: np.random.Generator) -> Tensor:
            return fit_on.loss(selector, lessons)

        def judge() -> float:
            return float(choose_on.loss(selector, EVERY))

        report = fit(
            selector,
            len(fit_on.seen),
            loss,
            judge,
            self.fit,
            seed=seed,
            title="RSPG-Pre: fitting",
            on_step=on_step,
        )
        return selector, report


@dataclass(frozen=True, slots=True, eq=False)
class Offers:
    """What the strategies offer for m lessons.

    Attributes:
        seen: features, [m, strategies, width].
        targets: softmax(worth / T), [m, strategies].
    """

    seen: Tensor
    targets: Tensor

    def loss(self, selector: nn.Module, lessons: NDArray[np.int64] | slice) -> Tensor:
        """KL(softmax(worth / T) ‖ softmax(scores)), mean over lessons."""
        return divergence(self.targets[lessons], selector(self.seen[lessons])[..., 0])


class RSPGPre:
    """Implements `protocols.Method`."""

    def __init__(self, strategies: Strategies, selector: nn.Module, tools: Tools) -> None:
        self._strategies = strategies
        self._selector = selector
        self._tools = tools

    def answer(self, asked: Asked) -> Answered:
        """All retrievals, then one of their profiles in one call; of equal scores the first."""
        strategy, records, seconds = self._chosen(asked)
        answered = self._tools.answer(asked.request, records, f"strategy {strategy}")
        return replace(answered, own_retrieval=seconds)

    def foresee(self, many: Sequence[Asked]) -> None:
        """Have the generator write all these answers together."""
        chosen = [(asked.request, self._chosen(asked)[1]) for asked in many]
        self._tools.write_together(chosen)

    def _chosen(self, asked: Asked) -> tuple[str, Profile, float]:
        """The strategy, its profile, and the seconds that all the retrievals took."""
        request = asked.request
        started = time.perf_counter()
        profiles = self._strategies.profiles(request, asked.history)
        seconds = time.perf_counter() - started
        seen = torch.from_numpy(self._strategies.features(request, profiles))
        with torch.no_grad():
            best = int(self._selector(seen)[:, 0].argmax())
        return STRATEGIES[best], profiles[best], seconds


def new_selector(width: int, seed: int) -> nn.Module:
    """A score for every strategy's features, [..., width] to [..., 1]; the same for a seed."""
    return seeded(
        lambda: nn.Sequential(nn.Linear(width, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, 1)), seed
    )


@torch.no_grad()
def _chosen(selector: nn.Module, offers: Offers) -> dict[str, int]:
    """How often each strategy is chosen."""
    counts = selector(offers.seen)[..., 0].argmax(dim=1).bincount(minlength=len(STRATEGIES))
    return dict(zip(STRATEGIES, counts.tolist(), strict=True))
