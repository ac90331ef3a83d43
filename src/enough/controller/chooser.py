"""A trained controller as the chooser of cross-fitted targets, instead of models of folds.

In: the folder of a controller, from a round before. Out: that controller, if it was trained for the
same tasks, encoder and operating point. Leaves are then chosen by what it thinks stopping there is
worth; their realised components are the targets, as ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from enough.controller.checkpoint import SETTINGS, Trained, load_controller
from enough.controller.task_table import OTHER
from enough.errors import ConfigError
from enough.labels.folder import checksum
from enough.teacher.components import TargetConfig


def load_chooser(folder: Path, tasks: Iterable[str], encoder: str, point: TargetConfig) -> Trained:
    """Read a chooser.

    Raises:
        ModelError: if there is no controller, or a damaged one.
        ConfigError: if it was trained for something else.
    """
    found = load_controller(folder)
    wanted = {
        "tasks": (_named(found.model.tasks), _named(tasks)),
        "encoder": (found.made_with.encoder, encoder),
        "operating point": (_shown(found.point), _shown(point)),
    }
    for name, (its, ours) in wanted.items():
        if its != ours:
            raise ConfigError(
                f"chooser: {folder} was trained with the {name} {its}; this run has {ours}"
            )
    return found


def chooser_digest(folder: Path) -> str:
    """Changes with anything in the controller; its weights' checksum is in the file."""
    load_controller(folder)  # it has the words for whatever is wrong
    return checksum(folder / SETTINGS)


def _named(tasks: Iterable[str]) -> str:
    return ", ".join(sorted(set(tasks) - {OTHER}))


def _shown(point: TargetConfig) -> str:
    return f"beta {point.beta}, lambda {point.lambda_}"
