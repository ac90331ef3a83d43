"""REPLUG with an LM-supervised retriever: k records in k prompts, one answer from their mixture.

In: a request and its legal history. Out: an answer written token by token from p(y_t) =
Σ_d λ_d p(y_t | d, x, y_<t), λ = softmax of the trained retriever's scores over the k records.
Mixing logits, as other versions do, is no mixture.

The retriever learns KL(softmax(LM log-likelihood / τ_lm) ‖ softmax(dot / τ_r)) over each pool. The
source hands its loss the last record's likelihood in place of all of them; its LaMP adaptation
trains nothing and mixes whole answers. Encoders are frozen here, towers on their vectors learn.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from enough.baselines.fitting import FittingConfig, fit, weights_of
from enough.baselines.method_files import Learned, load_learned, save_learned
from enough.baselines.ropg import rate_material
from enough.baselines.several_prompts import SeveralPrompts, write_all
from enough.baselines.tools import Material, Tools
from enough.baselines.towers import EVERY, Taught, Towers, TrainedRetriever, divergence
from enough.config import require_at_least
from enough.progress import OnStep
from enough.protocols import Answered, Asked, Floats, Method, Retriever
from enough.records import Candidate

KIND = "replug"
_CANDIDATES = 20  # looked at for k that fit


@dataclass(frozen=True, slots=True)
class REPLUGConfig:
    """REPLUG's settings.

    Attributes:
        k: prompts, of one record each.
        lm_temperature: τ_lm, of likelihoods.
        temperature: τ_r, of the retriever's scores, in training and in the mixture.
        fit: how the retriever is fitted.
    """

    k: int = 5
    lm_temperature: float = 0.1
    temperature: float = 0.1
    fit: FittingConfig = field(default_factory=FittingConfig)

    def __post_init__(self) -> None:
        require_at_least(self, {"k": 1, "lm_temperature": 1e-6, "temperature": 1e-6})

    @property
    def of_weights(self) -> dict[str, Any]:
        """The settings that shape the weights."""
        return {name: value for name, value in asdict(self).items() if name != "k"}

    def train(
        self, material: Material, tools: Tools, folder: Path, on_step: OnStep
    ) -> dict[str, Any]:
        """Score all records of all pools, then fit the retriever to them."""
        fit_on, choose_on = rate_material(material, "likelihood", tools, on_step, KIND)
        taught, judged = Taught.of(fit_on, tools.encoder), Taught.of(choose_on, tools.encoder)
        towers = Towers(taught.queries.shape[1], self.temperature)

        def loss(lessons: NDArray[np.int64], _: np.random.Generator) -> Tensor:
            targets = taught.targets(lessons, self.lm_temperature)
            return divergence(targets, taught.scores(towers, lessons))

        def judge() -> float:
            targets = judged.targets(EVERY, self.lm_temperature)
            return float(divergence(targets, judged.scores(towers, EVERY)))

        report: dict[str, Any] = {"lessons": len(fit_on), "chosen_on": len(choose_on)}
        report |= fit(
            towers,
            len(fit_on),
            loss,
            judge,
            self.fit,
            seed=tools.seed,
            title="REPLUG: fitting",
            on_step=on_step,
        )
        save_learned(folder, Learned(KIND, self.of_weights, weights_of(towers), report), tools)
        return report

    def build(self, tools: Tools) -> Method:
        """The mixture over the k best records of the trained retriever."""
        learned = load_learned(tools.trained_folder, KIND, self.of_weights, tools)
        return REPLUG(
            TrainedRetriever(learned.weights, tools.encoder, self.temperature), tools, self.k
        )


class REPLUG:
    """Implements `protocols.Method`."""

    def __init__(self, retriever: Retriever, tools: Tools, k: int) -> None:
        self._retriever = retriever
        self._tools = tools
        self._k = k

    def answer(self, asked: Asked) -> Answered:
        """One record: one plain prompt. Several: one answer, written to all prompts at once."""
        started = time.perf_counter()
        planned = self._planned(asked)
        seconds = time.perf_counter() - started
        return replace(planned.answer(self._tools), own_retrieval=seconds)

    def foresee(self, many: Sequence[Asked]) -> None:
        """Have all these answers written together."""
        write_all([self._planned(asked) for asked in many], self._tools)

    def _planned(self, asked: Asked) -> SeveralPrompts:
        chosen = self._chosen(asked)
        records = tuple(candidate.record for candidate in chosen)
        reason = f"{self._k} prompts asked for" if len(chosen) == self._k else "nothing more fits"
        mixture = partial(Mixture, np.array([candidate.score for candidate in chosen]))
        return SeveralPrompts(asked.request, records, mixture, reason)

    def _chosen(self, asked: Asked) -> list[Candidate]:
        """The k best that fit; each stands alone, so that each has all the room."""
        pool = self._retriever.retrieve(asked.request, asked.history, _CANDIDATES)
        budget = self._tools.budget(asked.request, pool)
        sizes = zip(pool, budget.record_tokens, strict=True)
        fitting = [candidate for candidate, size in sizes if size <= budget.max_profile_tokens]
        return fitting[: min(self._k, budget.max_records)]


class Mixture:
    """The likeliest token of a mixture with fixed weights. Implements `protocols.Steering`."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        above = scores.astype(np.float64) - scores.max()
        self.log_weights = above - np.log(np.exp(above).sum())  # log λ, [prompts]

    @property
    def key(self) -> str:
        """The rule and the exact bits of its weights."""
        return f"replug {self.log_weights.astype('<f8').tobytes().hex()}"

    def next(self, log_probs: Floats) -> int:
        """The likeliest one, the first of equals, from [prompts, vocabulary]."""
        return int(self.mixed(log_probs).argmax())

    def mixed(self, log_probs: Floats) -> NDArray[np.float64]:
        """The mixture Σ_d λ_d p(y_t | d), [vocabulary]; what underflows cannot be the likeliest."""
        found: NDArray[np.float64] = np.exp(self.log_weights) @ np.exp(log_probs.astype(np.float64))
        return found
