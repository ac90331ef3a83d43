"""The one training loop of all baselines that learn: AdamW, few small steps, the best one kept.

In: a module, a loss of a batch of lessons, a judge over lessons of other users. Out: the module as
it was when the judge liked it best, the untrained one included. A step is a function of weights,
moments, seed and its number alone, on one thread: the same seed gives the same bits.

The sources fine-tune whole encoders (Contriever, Longformer). Here encoders are frozen and cached,
and small trained parts stand on their vectors, as ENOUGH's own controller does.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from enough.baselines.method_files import Weights
from enough.config import require_at_least
from enough.controller.optimisation import one_thread
from enough.errors import ConfigError, ModelError
from enough.progress import OnStep

_LONGEST_GRADIENT = 1.0

M = TypeVar("M", bound=nn.Module)
Loss = Callable[[NDArray[np.int64], np.random.Generator], Tensor]
"""The loss of the lessons at these places; whatever is drawn comes from the generator."""


@dataclass(frozen=True, slots=True)
class FittingConfig:
    """How a trained part is fitted.

    Attributes:
        steps: of the optimiser.
        lessons: in a batch, all different.
        learning_rate, weight_decay: of AdamW; the rate falls to zero along a cosine.
        check_every: steps between looks at the lessons to choose on.
    """

    steps: int = 300
    lessons: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    check_every: int = 20

    def __post_init__(self) -> None:
        least = {"steps": 1, "lessons": 1, "learning_rate": 0, "weight_decay": 0, "check_every": 1}
        require_at_least(self, least, "fit.")


@one_thread()
def fit(
    model: nn.Module,
    lessons: int,
    loss: Loss,
    judge: Callable[[], float],
    config: FittingConfig,
    *,
    seed: int,
    title: str,
    on_step: OnStep,
) -> dict[str, float]:
    """Train in place.

    Args:
        model: what is trained.
        lessons: how many there are.
        loss: of some of them.
        judge: a loss over the lessons to choose on, lower is better.
        config: how.
        seed: for batches and whatever the loss draws.
        title: for progress.
        on_step: told after every step.

    Returns:
        What the judge said before and of what is kept, and after how many steps that was.
    """
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=config.weight_decay)
    first = best = _judged(model, judge)
    kept, kept_at = copy.deepcopy(model.state_dict()), 0
    for step in range(1, config.steps + 1):
        rng = np.random.default_rng((seed, step))
        places = rng.permutation(lessons)[: config.lessons]
        _step(model, optimiser, loss(places, rng), _rate(config, step))
        is_look = step % config.check_every == 0 or step == config.steps
        if is_look and (found := _judged(model, judge)) < best:
            best, kept, kept_at = found, copy.deepcopy(model.state_dict()), step
        on_step(title, step, config.steps, f"lowest loss {best:.4f}")
    model.load_state_dict(kept)
    model.eval()
    return {"loss_before": first, "loss": best, "steps": kept_at}


def seeded(build: Callable[[], M], seed: int) -> M:
    """A module with fresh weights; the same for a seed, whatever was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def require_lessons(fit_on: Sequence[object], choose_on: Sequence[object], method: str) -> None:
    """Refuse to train on nothing, or to choose on nothing."""
    for lessons, what in ((fit_on, "learn from"), (choose_on, "choose on")):
        if not lessons:
            raise ConfigError(
                f"{method}: there is no request to {what} whose records fit the generator's window;"
                " give it more users"
            )


def weights_of(model: nn.Module, prefix: str = "") -> Weights:
    """The parameters as arrays, their names after a prefix."""
    return {f"{prefix}{name}": value.numpy().copy() for name, value in model.state_dict().items()}


def into_module(model: nn.Module, weights: Weights, prefix: str = "") -> None:
    """Put arrays back.

    Raises:
        ModelError: if they belong to a module of another shape.
    """
    found = {
        name.removeprefix(prefix): torch.from_numpy(value.copy())
        for name, value in weights.items()
        if name.startswith(prefix)
    }
    try:
        model.load_state_dict(found)
    except RuntimeError as error:
        raise ModelError(f"weights do not fit this version's method ({error}); train it") from None
    model.eval()


def _step(model: nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor, rate: float) -> None:
    if not torch.isfinite(loss):
        raise ModelError("the loss is not a number; lower fit.learning_rate")
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), _LONGEST_GRADIENT)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()


def _rate(config: FittingConfig, step: int) -> float:
    return config.learning_rate * (1 + math.cos(math.pi * (step - 1) / config.steps)) / 2


def _judged(model: nn.Module, judge: Callable[[], float]) -> float:
    model.eval()
    with torch.no_grad():
        found = judge()
    model.train()
    return found
