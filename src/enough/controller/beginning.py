"""What training begins with: fresh weights, or those of another controller.

In: settings and the requests to be learnt from. Out: a `Controller`. A controller of many requests
of other people is a better beginning than none where few are labelled; one of the same encoder and
of at least these tasks can be taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from enough.controller.bundled import locate_controller
from enough.controller.checkpoint import SETTINGS, load_controller
from enough.controller.examples import LabelledRequest
from enough.controller.model import Controller
from enough.controller.task_table import OTHER
from enough.controller.train_config import TrainConfig
from enough.controller.training import new_controller
from enough.errors import ConfigError
from enough.labels.folder import checksum


def begin(config: TrainConfig, requests: Sequence[LabelledRequest], encoder: str) -> Controller:
    """The controller that training changes; its configuration is the model's shape.

    Raises:
        ConfigError: if the one to start from knows not all tasks.
        ModelError: if it is missing, damaged or of another encoder.
    """
    tasks = sorted({request.features.task for request in requests})
    if config.start is None:
        dim = len(requests[0].features.query)
        model = dataclasses.replace(config.model, dim=dim)
        names = [*tasks, OTHER] if config.fit.unnamed else tasks
        return new_controller(model, names, config.seed)
    found = load_controller(locate_controller(config.start), encoder=encoder).model
    if missing := sorted(set(tasks) - set(found.tasks)):
        raise ConfigError(f"start: {config.start} knows nothing of the task {missing[0]!r}")
    if config.fit.unnamed and OTHER not in found.tasks:
        raise ConfigError(f"start: {config.start} has no place for other tasks (fit.unnamed)")
    return found.train()


def start_digest(start: Path) -> str:
    """Changes with anything in the controller; its weights' checksum is in the file."""
    folder = locate_controller(start)
    load_controller(folder)  # it has the words for whatever is wrong
    return checksum(folder / SETTINGS)
