"""Train a controller on labelled requests: split, targets, fit, temperature, report.

In: labelled data and settings. Out: `Trained`, ready to be saved. Users are dealt into a training
and a selection part; early stopping, T_s and everything in the report come from the latter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from enough.controller.beginning import begin
from enough.controller.checkpoint import Trained
from enough.controller.crossfit import Folds, plain_targets
from enough.controller.examples import LabelledRequest
from enough.controller.fit_state import Keeper, Stage
from enough.controller.habit import learn_habit
from enough.controller.judging import (
    fit_stop_calibration,
    judge,
    net_values,
    stop_decisions,
    stop_quality,
)
from enough.controller.labelled import Labelled
from enough.controller.labelled_folder import LabelledData
from enough.controller.objective import Objective
from enough.controller.optimisation import one_thread
from enough.controller.scalars import open_scalars
from enough.controller.train_config import TrainConfig
from enough.controller.train_targets import train_targets
from enough.controller.training import fit
from enough.controller.unfinished_training import FitFiles
from enough.controller.walks import Walks
from enough.errors import DataError
from enough.progress import OnStep
from enough.teacher.components import scaled_components
from enough.teacher.scored_tree import blind_part

__all__ = ["TrainConfig", "summary", "train"]

_SELECTED = 7  # one user in seven is kept for choices


@one_thread()
def train(
    data: LabelledData, config: TrainConfig, on_step: OnStep, *, keep: Path | None = None
) -> tuple[Trained, Walks | None]:
    """Fit a controller to labelled data; the walks of its cross-fitting, where there was one.

    Args:
        data: labelled requests.
        config: settings.
        on_step: told how far it is.
        keep: a folder for scalars and for what is finished or under way; what is there, from a run
            on the same data with the same settings, is not done again.
    """
    learn, select = _parts(data, config.seed)
    # First of all: labels that do not go along the retriever's order are refused at once.
    habit = learn_habit(config.habit, learn, max(r.features.max_records for r in data.requests))
    beginning = begin(config, data.requests, data.made_with.encoder)
    config = dataclasses.replace(config, model=beginning.config)
    tasks = list(beginning.tasks)
    shown, watched = (_states_of(part, data, config) for part in (learn, select))
    with _kept_in(keep) as keeper:
        targets = train_targets(
            shown,
            watched,
            config,
            tasks=tasks,
            encoder=data.made_with.encoder,
            keeper=keeper,
            on_step=on_step,
        )
        model = fit(
            beginning,
            Labelled.of(shown, targets.learn),
            Labelled.of(watched, targets.select),
            Objective(config.targets, config.loss),
            config.fit,
            stage=Stage.last(config.seed),
            keeper=keeper,
            on_step=on_step,
        )
    report = {
        "kind": config.kind,
        "chooser": targets.chooser,
        "seed": config.seed,
        "training_requests": len(learn),
        "selection_requests": len(select),
    }
    trained = Trained(
        model,
        config.targets,
        config.loss.stop_temperature,
        data.scales,
        data.made_with,
        report,
        habit=habit,
    )
    return _calibrated(trained, select), targets.walks


def recalibrated(trained: Trained, data: LabelledData) -> Trained:
    """The same controller with T_s, b and report of its selection part as it decides now.

    Args:
        trained: by `train`, on these labels; perhaps for another price or habit since.
        data: what it was trained on.

    Raises:
        DataError: if that are other labels.
    """
    if (data.scales, data.made_with) != (trained.scales, trained.made_with):
        raise DataError("these are not the labels that the controller was trained on")
    _, select = _parts(data, trained.report["seed"])
    return _calibrated(trained, select)


def recalibrated_on_others(trained: Trained, data: LabelledData) -> Trained:
    """The same, fitted to users none of whom it was trained on: all that are in `data` count.

    Args:
        trained: a controller.
        data: of other users, by the same teacher, in the controller's units.

    Raises:
        DataError: if another generator, tokenizer or encoder made them.
    """
    if data.made_with != trained.made_with:
        raise DataError(
            "these labels were made with another generator, tokenizer or encoder than the "
            "controller's own"
        )
    return _calibrated(trained, data.requests)


def _calibrated(trained: Trained, select: Sequence[LabelledRequest]) -> Trained:
    """Fits the probability of stopping to what the teacher does on the selection part."""
    # The teacher's own decisions are hindsight's, whatever the controller was trained on.
    seen = Labelled.of(select, plain_targets(select, trained.point, "hindsight"))
    predicted = net_values(trained.model, seen, trained.point, trained.habit)
    decisions = stop_decisions(seen, predicted)
    temperature, offset = fit_stop_calibration(decisions.margins, decisions.stops)
    judged = judge(seen, predicted, trained.point)
    quality = stop_quality(decisions, trained.stop_temperature, temperature, offset)
    report = {
        **trained.report,
        "selection": [dataclasses.asdict(line) for line in judged],
        "stopping": dataclasses.asdict(quality),
    }
    return dataclasses.replace(
        trained, stop_temperature=temperature, stop_offset=offset, report=report
    )


def _parts(data: LabelledData, seed: int) -> tuple[list[LabelledRequest], list[LabelledRequest]]:
    """The training and the selection part; nobody is in both."""
    dealt = Folds.deal(data.requests, _SELECTED, seed)
    parts = [[r for r in data.requests if (dealt.of(r) == 0) == chosen] for chosen in (False, True)]
    for part, name in zip(parts, ("training", "selection"), strict=True):
        if not part:
            raise DataError(f"too few labelled users: none is left for {name}")
    return parts[0], parts[1]


def _states_of(
    part: list[LabelledRequest], data: LabelledData, config: TrainConfig
) -> list[LabelledRequest]:
    """What is learnt from: whole trees, or their blind parts."""
    if config.states == "all":
        return part
    trees = [blind_part(request.tree) for request in part]
    return [
        LabelledRequest(r.features, tree, scaled_components(tree, data.scales[tree.of.task]))
        for r, tree in zip(part, trees, strict=True)
    ]


@contextmanager
def _kept_in(folder: Path | None) -> Iterator[Keeper]:
    if folder is None:
        yield Keeper()
        return
    with open_scalars(folder) as scalars:
        yield FitFiles(folder, scalars)


def summary(trained: Trained) -> dict[str, Any]:
    """What a command prints."""
    return {
        "beta": trained.point.beta,
        "lambda": trained.point.lambda_,
        "stop_temperature": trained.stop_temperature,
        "stop_offset": trained.stop_offset,
        "parameters": sum(p.numel() for p in trained.model.parameters()),
        **trained.report,
    }
