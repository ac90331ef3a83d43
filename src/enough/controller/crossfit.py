"""Targets of labelled requests: hindsight, myopic, or cross-fitted.

In: labelled requests. Out: targets for each. Cross-fitted ones choose every leaf by a model that
was fitted to other users: what stopping at a profile is worth is learned from all scored profiles
of the other folds, and the leaf that looks best to that model is followed. Its realised components
are the target, so nobody's luck is taken for skill.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from enough.controller.batches import Draw
from enough.controller.examples import LabelledRequest
from enough.controller.model import Controller, ModelConfig
from enough.controller.rollout import predicted_worth
from enough.controller.training import FitConfig, Labelled, Objective, fit, new_controller
from enough.teacher.backup import Targets, back_up
from enough.teacher.components import TargetConfig

_WORTH_STATES = Draw(expanded=0, others=24)


@dataclass(frozen=True, slots=True)
class Folds:
    """Users dealt to folds by their name, so that a user's requests stay together."""

    count: int
    seed: int

    def of(self, request: LabelledRequest) -> int:
        """The fold of a request's user."""
        name = f"{self.seed}/{request.tree.of.user}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.sha256(name).digest()[:4], "big") % self.count


def plain_targets(
    requests: Sequence[LabelledRequest], point: TargetConfig, kind: str
) -> list[Targets]:
    """Hindsight or myopic targets."""
    chosen = "myopic" if kind == "myopic" else "hindsight"
    return [back_up(r.tree, r.components, point, chosen) for r in requests]  # type: ignore[arg-type]


def worth_models(
    train: Sequence[LabelledRequest],
    objective: Objective,
    model: ModelConfig,
    config: FitConfig,
    folds: Folds,
) -> list[Controller]:
    """For each fold a model of what profiles are worth, fitted to all other folds.

    The next fold is where each stops early, so no model has seen the fold it is for in any way.
    """
    tasks = sorted({request.features.task for request in train})
    labelled = Labelled.of(train, plain_targets(train, objective.point, "myopic"))
    fold = np.array([folds.of(request) for request in train])
    value_only = dataclasses.replace(objective.losses, rank=0.0, stop=0.0)
    fitting = dataclasses.replace(config, draw=_WORTH_STATES)
    models = []
    for held_out in range(folds.count):
        watched = (held_out + 1) % folds.count
        others = labelled.some(np.flatnonzero((fold != held_out) & (fold != watched)))
        judge = labelled.some(np.flatnonzero(fold == watched))
        fresh = new_controller(model, tasks, config.seed + held_out)
        aim = Objective(objective.point, value_only)
        models.append(fit(fresh, others, judge, aim, fitting))
    return models


def crossfit_targets(
    requests: Sequence[LabelledRequest],
    models: Sequence[Controller],
    point: TargetConfig,
    folds: Folds | None,
) -> list[Targets]:
    """Targets whose leaves are chosen out of fold; by all models where `folds` is None."""
    plain = plain_targets(requests, point, "myopic")
    rows = Labelled.of(requests, plain).rows
    targets = []
    for request, states in zip(requests, rows, strict=True):
        chosen = models if folds is None else [models[folds.of(request)]]
        worth = np.mean([predicted_worth(m, request, states, point) for m in chosen], axis=0)
        targets.append(back_up(request.tree, request.components, point, "crossfit", worth))
    return targets
