"""Targets of labelled requests: hindsight, myopic, or cross-fitted.

In: labelled requests. Out: targets for each. Cross-fitted ones choose every leaf by a model that
was fitted to other users: what stopping at a profile is worth is learned from all scored profiles
of the other folds, and the leaf that looks best to that model is followed. Its realised components
are the target, so nobody's luck is taken for skill.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from enough.controller.batches import Draw
from enough.controller.examples import LabelledRequest, StateRows
from enough.controller.fit_state import Keeper, Stage
from enough.controller.labelled import Labelled
from enough.controller.model import Controller, ModelConfig
from enough.controller.objective import Objective
from enough.controller.optimisation import FitConfig
from enough.controller.rollout import predicted_worth
from enough.controller.training import fit, new_controller
from enough.errors import DataError
from enough.progress import OnStep, silent
from enough.teacher.backup import Targets, back_up
from enough.teacher.components import TargetConfig
from enough.teacher.utility import Values

_WORTH_STATES = Draw(expanded=0, others=24)


@dataclass(frozen=True, slots=True)
class Folds:
    """Users dealt to folds of equal size; a user's requests stay together.

    Attributes:
        count: how many folds.
        fold_of: user -> fold.
    """

    count: int
    fold_of: Mapping[str, int]

    @classmethod
    def deal(cls, requests: Iterable[LabelledRequest], count: int, seed: int) -> Folds:
        """Deal the users of these requests, in an order that the seed decides."""
        users = {request.tree.of.user for request in requests}
        order = sorted(users, key=lambda user: _lot(user, seed))
        return cls(count, {user: place % count for place, user in enumerate(order)})

    def of(self, request: LabelledRequest) -> int:
        """The fold of a request's user."""
        return self.fold_of[request.tree.of.user]


def _lot(user: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}/{user}".encode("utf-8", "surrogatepass")).digest()


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
    *,
    tasks: Sequence[str],
    seed: int = 0,
    keeper: Keeper | None = None,
    on_step: OnStep = silent,
) -> list[Controller]:
    """For each fold a model of what profiles are worth, fitted to all other folds.

    The next fold is where each stops early, so no model has seen the fold it is for in any way.
    """
    labelled = Labelled.of(train, plain_targets(train, objective.point, "myopic"))
    fold = np.array([folds.of(request) for request in train])
    if len(np.unique(fold)) < folds.count:
        raise DataError(
            f"too few labelled users for {folds.count} folds; set folds lower, or label more users"
        )
    value_only = dataclasses.replace(objective.losses, rank=0.0, stop=0.0)
    fitting = dataclasses.replace(config, draw=_WORTH_STATES)
    models = []
    for held_out in range(folds.count):
        watched = (held_out + 1) % folds.count
        models.append(
            fit(
                new_controller(model, tasks, seed + held_out),
                labelled.some(np.flatnonzero((fold != held_out) & (fold != watched))),
                labelled.some(np.flatnonzero(fold == watched)),
                Objective(objective.point, value_only),
                fitting,
                stage=Stage.fold(seed, held_out + 1, folds.count),
                keeper=keeper,
                on_step=on_step,
            )
        )
    return models


def crossfit_targets(
    requests: Sequence[LabelledRequest],
    models: Sequence[Controller],
    point: TargetConfig,
    folds: Folds | None,
) -> list[Targets]:
    """Targets whose leaves are chosen out of fold; by all models where `folds` is None."""
    rows = Labelled.of(requests, plain_targets(requests, point, "myopic")).rows
    worth = _worth(requests, rows, models, point, folds)
    return [
        back_up(request.tree, request.components, point, "crossfit", value)
        for request, value in zip(requests, worth, strict=True)
    ]


def _worth(
    requests: Sequence[LabelledRequest],
    rows: Sequence[StateRows],
    models: Sequence[Controller],
    point: TargetConfig,
    folds: Folds | None,
) -> list[Values]:
    """What every profile is expected to be worth, [n] for each request."""
    if folds is None:
        each = [predicted_worth(model, requests, rows, point) for model in models]
        return [np.mean(values, axis=0) for values in zip(*each, strict=True)]
    fold = np.array([folds.of(request) for request in requests])
    worth: dict[int, Values] = {}
    for number, model in enumerate(models):
        places = [int(place) for place in np.flatnonzero(fold == number)]
        some = [requests[i] for i in places]
        values = predicted_worth(model, some, [rows[i] for i in places], point)
        worth.update(zip(places, values, strict=True))
    return [worth[place] for place in range(len(requests))]
