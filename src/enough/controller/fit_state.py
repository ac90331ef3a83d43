"""One fit of a training run: which it is, how far it is, and who keeps that.

A run fits several models, one after the other. Each fit can be left after any look at the selection
part and taken up again with the same result: draws are a function of seed, stage and step, so that
nothing random needs to be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from enough.controller.model import Controller

Row = dict[str, float]
"""The scalars of one look: "step", then name to value."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Which fit it is.

    Attributes:
        name: names its files.
        title: what progress calls it.
        seed: seed of the run and number of the stage, for the draws of its batches.
    """

    name: str
    title: str
    seed: tuple[int, int]

    @classmethod
    def last(cls, seed: int) -> Stage:
        """The controller itself."""
        return cls("fit", "fitting", (seed, 0))

    @classmethod
    def fold(cls, seed: int, number: int, count: int) -> Stage:
        """One of the cross-fitting, counted from 1."""
        return cls(f"fold-{number}", f"cross-fitting, fold {number} of {count}", (seed, number))


@dataclass(slots=True)
class FitState:
    """Where a fit is after a look at the selection part; weights and moments are elsewhere.

    Attributes:
        best: the lowest loss so far.
        kept: the weights that had it.
        step: steps made.
        waited: looks since then.
        rows: scalars of all looks.
    """

    best: float
    kept: dict[str, Tensor]
    step: int = 0
    waited: int = 0
    rows: list[Row] = field(default_factory=list)


class Keeper:
    """Keeps fits, finished ones and those under way; this one keeps nothing, `FitFiles` on disk."""

    def finished(self, stage: Stage, model: Controller) -> bool:
        """Put the weights of a finished fit into the model; false if it is not finished."""
        return False

    def restore(
        self, stage: Stage, model: Controller, optimiser: torch.optim.Optimizer
    ) -> FitState | None:
        """Put a fit under way back into model and optimiser; None if there is none."""
        return None

    def looked(self, stage: Stage, row: Row) -> None:
        """Told of every look."""

    def save(
        self,
        stage: Stage,
        model: Controller,
        optimiser: torch.optim.Optimizer,
        state: FitState,
    ) -> None:
        """Keep a fit under way."""

    def finish(self, stage: Stage, model: Controller, state: FitState) -> None:
        """Keep a finished fit; its state is not needed any more."""
