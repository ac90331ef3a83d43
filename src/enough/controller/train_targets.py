"""The targets a controller is trained on and selected by, and who chose their leaves.

In: the training and the selection part, and settings. Out: targets of both. Cross-fitted ones take
a few fits of their own, or a controller of the round before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from enough.controller.chooser import chooser_digest, load_chooser
from enough.controller.crossfit import Folds, crossfit_targets, plain_targets, worth_models
from enough.controller.examples import LabelledRequest
from enough.controller.fit_state import Keeper
from enough.controller.objective import Objective
from enough.controller.train_config import TrainConfig
from enough.controller.walks import Walks, out_of_fold_walks
from enough.progress import OnStep
from enough.teacher.backup import Targets


@dataclass(frozen=True, slots=True, eq=False)
class TrainTargets:
    """Targets of the training and of the selection part.

    Attributes:
        chooser: for the report: who chose the leaves; None where nobody predicted anything.
        walks: of the models of folds through requests they never saw; None without folds.
    """

    learn: list[Targets]
    select: list[Targets]
    chooser: dict[str, Any] | None
    walks: Walks | None = None


def train_targets(
    learn: Sequence[LabelledRequest],
    select: Sequence[LabelledRequest],
    config: TrainConfig,
    *,
    tasks: Sequence[str],
    encoder: str,
    keeper: Keeper,
    on_step: OnStep,
) -> TrainTargets:
    """Targets of both parts.

    Args:
        learn: the training part.
        select: the selection part.
        config: settings.
        tasks: names of all tasks.
        encoder: fingerprint of the encoder the features were made with.
        keeper: keeps the fits of the cross-fitting.
        on_step: told how far it is.
    """
    point = config.targets
    if config.kind != "crossfit":
        plain = [plain_targets(part, point, config.kind) for part in (learn, select)]
        return TrainTargets(plain[0], plain[1], None)
    if config.chooser is not None:
        found = load_chooser(config.chooser, tasks, encoder, point)
        chosen = [crossfit_targets(part, [found.model], point, None) for part in (learn, select)]
        chooser = {
            "by": "controller",
            "kind": found.report.get("kind"),
            "digest": chooser_digest(config.chooser),
        }
        return TrainTargets(chosen[0], chosen[1], chooser)
    folds = Folds.deal(learn, config.folds, config.seed + 1)
    models = worth_models(
        learn,
        Objective(point, config.loss),
        config.model,
        config.fit,
        folds,
        tasks=tasks,
        seed=config.seed,
        keeper=keeper,
        on_step=on_step,
    )
    return TrainTargets(
        crossfit_targets(learn, models, point, folds),
        # Nobody of the selection part is in any fold, so all models may judge there.
        crossfit_targets(select, models, point, None),
        {"by": "folds", "folds": config.folds},
        out_of_fold_walks(learn, select, models, folds, point),
    )
