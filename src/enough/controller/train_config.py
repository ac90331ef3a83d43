"""The settings of a training run, as a TOML file has them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from enough.config import key_of, require_at_least
from enough.controller.habit import HabitConfig
from enough.controller.losses import LossConfig
from enough.controller.model import ModelConfig
from enough.controller.optimisation import FitConfig
from enough.errors import ConfigError, UnknownNameError
from enough.teacher.backup import Kind
from enough.teacher.components import TargetConfig


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """A training run.

    Attributes:
        kind: how targets are backed up: "hindsight" is the paper's, "crossfit" is not optimistic.
        states: "blind" learns only from states that are in a tree whatever came of them: roots and
            their children, not what the search kept because it turned out well.
        folds: of the cross-fitting.
        chooser: folder of a controller that chooses the leaves of cross-fitted targets, instead of
            models of the folds.
        start: folder of a controller whose weights training begins with, or the name of a bundled
            one; it gives the model's shape, too. None begins with fresh weights.
        seed: for splits, weights and batches.
        targets: β and λ.
        habit: how far decisions stay with what suits the average request.
        model, loss, fit: shape, losses and optimisation; the size of vectors is the encoder's.
    """

    kind: Kind = "crossfit"
    states: Literal["all", "blind"] = "all"
    folds: int = 5
    chooser: Path | None = None
    start: Path | None = None
    seed: int = 0
    targets: TargetConfig = field(default_factory=TargetConfig)
    habit: HabitConfig = field(default_factory=HabitConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    fit: FitConfig = field(default_factory=FitConfig)

    def __post_init__(self) -> None:
        require_at_least(self, {"folds": 3, "seed": 0})
        if self.states not in ("all", "blind"):
            raise UnknownNameError("states", self.states, ("all", "blind"))
        if self.kind not in get_args(Kind):
            raise UnknownNameError("kind of targets", self.kind, get_args(Kind))
        if self.chooser is not None and self.kind != "crossfit":
            raise ConfigError(f"chooser is for targets of the kind 'crossfit', not {self.kind!r}")

    @property
    def of_result(self) -> dict[str, Any]:
        """What the controller depends on, as plain values; other controllers are not in it."""
        table = dataclasses.asdict(self)
        del table["chooser"], table["start"], table["fit"]["save_every"], table["model"]["dim"]
        table["targets"] = {key_of(name): value for name, value in table["targets"].items()}
        return table
