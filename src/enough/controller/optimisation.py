"""Steps of the optimiser: AdamW on batches that are drawn anew for every step.

In: a controller, labelled requests, an objective and settings. Out: the controller's weights are
changed in place. A step is a function of weights, moments, seed and its number alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch

from enough.config import require_at_least
from enough.controller.batches import Draw, unnamed
from enough.controller.fit_state import Row, Stage
from enough.controller.labelled import Labelled
from enough.controller.model import Controller
from enough.controller.objective import Objective
from enough.controller.task_table import OTHER
from enough.errors import ConfigError, ModelError
from enough.torch_threads import torch_threads

_LONGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class FitConfig:
    """How the controller is fitted.

    Attributes:
        steps: at most.
        requests: in a batch.
        draw: states of each request in a batch.
        learning_rate, weight_decay: of AdamW; the rate falls to zero along a cosine.
        check_every: steps between looks at the selection split.
        patience: looks without a better loss before it ends.
        unnamed: share of the requests that are shown without the name of their task; from them is
            learnt what to do for tasks that nobody has heard of. 0: such tasks are refused.
        save_every: looks between two points from which a killed run goes on.
    """

    steps: int = 1500
    requests: int = 32
    draw: Draw = field(default_factory=Draw)
    learning_rate: float = 2e-3
    weight_decay: float = 0.02
    check_every: int = 50
    patience: int = 10
    unnamed: float = 0.0
    save_every: int = 4

    def __post_init__(self) -> None:
        least = {"steps": 1, "requests": 1, "check_every": 1, "patience": 1, "save_every": 1}
        require_at_least(self, least, "fit.")
        if not 0 <= self.unnamed < 1:
            raise ConfigError(f"fit.unnamed must be at least 0 and below 1, not {self.unnamed}")


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one core: batches are small, so that threads mostly wait for each other.

    With anything else running on a machine of two cores, two threads are many times slower than
    one; and sums of several threads come in any order, with other last bits every time.
    """
    with torch_threads(1):
        yield


class Stepper:
    """One step of the optimiser at a time, each a function of its number."""

    def __init__(
        self,
        model: Controller,
        train: Labelled,
        objective: Objective,
        config: FitConfig,
        stage: Stage,
    ) -> None:
        self._model = model
        self._train = train
        self._objective = objective
        self._config = config
        self._seed = stage.seed
        self._by_task = train.by_task()
        self.optimiser = torch.optim.AdamW(
            model.parameters(), weight_decay=config.weight_decay, fused=True
        )

    def steps(self, first: int, last: int) -> Row:
        """Make these steps, both included, counted from 1; returns means over them."""
        losses, norms = zip(*(self._step(number) for number in range(first, last + 1)), strict=True)
        return {
            "training/loss": float(np.mean(losses)),
            "gradient_norm": float(np.mean(norms)),
            "learning_rate": self._rate(last),
        }

    def _step(self, number: int) -> tuple[float, float]:
        rng = np.random.default_rng((*self._seed, number))
        batch = self._train.batch(self._places(rng), self._model.tasks, self._config.draw, rng)
        if self._config.unnamed:
            batch = unnamed(batch, self._config.unnamed, self._model.tasks[OTHER], rng)
        self.optimiser.zero_grad()
        loss = self._objective(self._model, batch)
        if not torch.isfinite(loss):
            raise ModelError(f"the loss of step {number} is not a number; lower fit.learning_rate")
        loss.backward()  # type: ignore[no-untyped-call]
        weights = self._model.parameters()
        norm = torch.nn.utils.clip_grad_norm_(weights, _LONGEST_GRADIENT)
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate(number)
        self.optimiser.step()
        return float(loss.detach()), float(norm)

    def _places(self, rng: np.random.Generator) -> list[int]:
        """Every task equally often, then any of its requests."""
        drawn = rng.integers(len(self._by_task), size=self._config.requests)
        sizes = np.array([len(places) for places in self._by_task])
        within = rng.integers(sizes[drawn])
        return [int(self._by_task[task][i]) for task, i in zip(drawn, within, strict=True)]

    def _rate(self, number: int) -> float:
        done = (number - 1) / self._config.steps
        return self._config.learning_rate * (1 + math.cos(math.pi * done)) / 2
