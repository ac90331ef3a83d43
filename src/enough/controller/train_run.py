"""Train a controller on a folder of labels: split, targets, fit, temperature, report.

In: labelled data and settings. Out: `Trained`, ready to be saved. Users are dealt into a training
and a selection part; early stopping, T_s and everything in the report come from the latter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from enough.config import require_at_least
from enough.controller.checkpoint import Trained
from enough.controller.crossfit import Folds, crossfit_targets, plain_targets, worth_models
from enough.controller.examples import LabelledRequest
from enough.controller.judging import fit_stop_temperature, judge, stop_decisions
from enough.controller.labelled_folder import LabelledData
from enough.controller.losses import LossConfig
from enough.controller.model import ModelConfig
from enough.controller.training import FitConfig, Labelled, Objective, fit, new_controller
from enough.errors import DataError
from enough.progress import OnStep
from enough.teacher.backup import Targets
from enough.teacher.components import TargetConfig

_SELECTED = 7  # one user in seven is kept for choices


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """A training run.

    Attributes:
        kind: how targets are backed up: "hindsight" is the paper's, "crossfit" is not optimistic.
        folds: of the cross-fitting.
        seed: for splits, weights and batches.
        targets: β and λ.
        model, loss, fit: shape, losses and optimisation.
    """

    kind: Literal["crossfit", "hindsight", "myopic"] = "crossfit"
    folds: int = 5
    seed: int = 0
    targets: TargetConfig = field(default_factory=TargetConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    fit: FitConfig = field(default_factory=FitConfig)

    def __post_init__(self) -> None:
        require_at_least(self, {"folds": 3, "seed": 0})


def train(data: LabelledData, config: TrainConfig, on_step: OnStep) -> Trained:
    """Fit a controller to labelled data."""
    point = config.targets
    dealt = Folds(_SELECTED, config.seed)
    parts = [[r for r in data.requests if (dealt.of(r) == 0) == chosen] for chosen in (False, True)]
    for part, name in zip(parts, ("training", "selection"), strict=True):
        if not part:
            raise DataError(f"too few labelled users: none is left for {name}")
    dim = len(data.requests[0].features.query)
    shape = dataclasses.replace(config.model, dim=dim)
    config = dataclasses.replace(
        config, model=shape, fit=dataclasses.replace(config.fit, seed=config.seed)
    )
    targets = _targets(parts[0], parts[1], config, on_step)
    learn, select = (Labelled.of(p, t) for p, t in zip(parts, targets, strict=True))
    tasks = sorted({request.features.task for request in data.requests})
    model = fit(
        new_controller(shape, tasks, config.seed),
        learn,
        select,
        Objective(point, config.loss),
        config.fit,
        on_check=lambda step, steps, loss: on_step("fitting", step, steps, f"loss {loss:.4f}"),
    )
    # The teacher's own decisions are hindsight's, whatever the controller was trained on.
    seen = Labelled.of(parts[1], plain_targets(parts[1], point, "hindsight"))
    margins, stops = stop_decisions(model, seen, point)
    temperature = fit_stop_temperature(margins, stops)
    report = {
        "kind": config.kind,
        "seed": config.seed,
        "training_requests": len(parts[0]),
        "selection_requests": len(parts[1]),
        "selection": [dataclasses.asdict(line) for line in judge(model, seen, point)],
        "teacher_stop_share": float(np.mean(stops)) if len(stops) else None,
    }
    return Trained(model, point, temperature, data.scales, data.made_with, report)


def _targets(
    learn: Sequence[LabelledRequest],
    select: Sequence[LabelledRequest],
    config: TrainConfig,
    on_step: OnStep,
) -> tuple[list[Targets], list[Targets]]:
    point = config.targets
    if config.kind != "crossfit":
        return plain_targets(learn, point, config.kind), plain_targets(select, point, config.kind)
    on_step("cross-fitting", 0, config.folds, "")
    folds = Folds(config.folds, config.seed + 1)
    objective = Objective(point, config.loss)
    models = worth_models(learn, objective, config.model, config.fit, folds)
    on_step("cross-fitting", config.folds, config.folds, "")
    # Nobody of the selection part is in any fold, so all models may judge there.
    return (
        crossfit_targets(learn, models, point, folds),
        crossfit_targets(select, models, point, None),
    )


def summary(trained: Trained) -> dict[str, Any]:
    """What a command prints."""
    return {
        "beta": trained.point.beta,
        "lambda": trained.point.lambda_,
        "stop_temperature": trained.stop_temperature,
        "parameters": sum(p.numel() for p in trained.model.parameters()),
        **trained.report,
    }
