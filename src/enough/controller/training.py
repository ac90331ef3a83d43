"""Fit the controller to labelled requests, stopping early on a selection split.

In: labelled requests with the targets of one backup. Out: a trained `Controller`. Batches draw
tasks uniformly, then requests, then states. Choices are made on requests that were not trained on.
A fit that goes on from what a keeper has ends with the same bits on the same machine.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from enough.controller.batches import Batch
from enough.controller.fit_state import FitState, Keeper, Row, Stage
from enough.controller.labelled import Labelled
from enough.controller.model import Controller, ModelConfig
from enough.controller.objective import Objective
from enough.controller.optimisation import FitConfig, Stepper, one_thread
from enough.progress import OnStep, silent


@one_thread()
def fit(
    model: Controller,
    train: Labelled,
    select: Labelled,
    objective: Objective,
    config: FitConfig,
    *,
    stage: Stage | None = None,
    keeper: Keeper | None = None,
    on_step: OnStep = silent,
) -> Controller:
    """Train in place; returns the model as it was when the selection loss was lowest."""
    stage, keeper = stage or Stage.last(0), keeper or Keeper()
    if keeper.finished(stage, model):
        return model.eval()
    watched = _watched(select, model.tasks, config)
    stepper = Stepper(model, train, objective, config, stage)
    state = keeper.restore(stage, model, stepper.optimiser)
    if state is None:
        state = FitState(_mean_losses(model, watched, objective)["loss"], _weights(model))
    while state.step < config.steps and state.waited < config.patience:
        end = min(state.step + config.check_every, config.steps)
        row = {"step": end, **stepper.steps(state.step + 1, end)}
        found = _mean_losses(model, watched, objective)
        row |= {f"selection/{name}": value for name, value in found.items()}
        state.step, state.waited = end, state.waited + 1
        state.rows.append(row)
        if found["loss"] < state.best:
            state.best, state.kept, state.waited = found["loss"], _weights(model), 0
        keeper.looked(stage, row)
        if len(state.rows) % config.save_every == 0:
            keeper.save(stage, model, stepper.optimiser, state)
        on_step(stage.title, end, config.steps, f"loss {found['loss']:.4f}")
    model.load_state_dict(state.kept)
    keeper.finish(stage, model, state)
    on_step(stage.title, state.step, state.step, f"lowest loss {state.best:.4f}")
    return model.eval()


def new_controller(config: ModelConfig, tasks: Sequence[str], seed: int) -> Controller:
    """Fresh weights; the same for a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Controller(config, tasks)


def _watched(select: Labelled, tasks: dict[str, int], config: FitConfig) -> list[Batch]:
    """Fixed batches of the selection split, every request once."""
    rng = np.random.default_rng(0)
    order = range(len(select.requests))
    size = config.requests
    return [
        select.batch(list(order[i : i + size]), tasks, config.draw, rng)
        for i in range(0, len(order), size)
    ]


@torch.no_grad()
def _mean_losses(model: Controller, batches: Sequence[Batch], objective: Objective) -> Row:
    """The total and its parts, mean over batches."""
    model.eval()
    found = [objective.parts(model, batch) for batch in batches]
    model.train()
    return {name: float(np.mean([float(one[name]) for one in found])) for name in found[0]}


def _weights(model: Controller) -> dict[str, Tensor]:
    return copy.deepcopy(model.state_dict())
