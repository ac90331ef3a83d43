"""A small training run into a folder, as a library call and as a program to be killed.

`python -m tests.controller.runs LABELS OUT` trains on the labels that `small_labels` made.
"""

from __future__ import annotations

import dataclasses
import sys
from functools import partial
from pathlib import Path
from typing import Any

from enough.controller.model import ModelConfig
from enough.controller.optimisation import FitConfig
from enough.controller.train_config import TrainConfig
from enough.controller.train_folder import TrainRun
from enough.labels.run import LabelRun
from enough.labels.workers import Processes
from enough.progress import OnStep, silent
from enough.records import Dataset
from tests.labels.runs import SlowGenerator, small_config, small_dataset, small_stages
from tests.retrieval.tiny import BagEncoder

QUICK = FitConfig(steps=12, requests=4, check_every=2, save_every=2, patience=4, learning_rate=1e-2)
CONFIG = TrainConfig(folds=3, model=ModelConfig(hidden=16, heads=2), fit=QUICK)


def dataset() -> Dataset:
    return small_dataset(users=12, requests=24)


def small_labels(folder: Path) -> Path:
    """Labels of 24 requests of 12 users."""
    config = small_config()
    run = LabelRun([dataset()], config, folder)
    run.run(partial(small_stages, config), SlowGenerator, Processes(1))
    return folder


def train_small(
    labels: Path,
    out: Path,
    on_step: OnStep = silent,
    *,
    loaded: list[BagEncoder] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """The summary; encoders that were loaded are appended to `loaded`."""

    def load() -> BagEncoder:
        encoder = BagEncoder()
        if loaded is not None:
            loaded.append(encoder)
        return encoder

    config = dataclasses.replace(CONFIG, **changes)
    return TrainRun(labels, [dataset()], config, out).run(load, on_step)


if __name__ == "__main__":
    longer = dataclasses.replace(QUICK, steps=120, check_every=5, patience=40, save_every=1)
    train_small(Path(sys.argv[1]), Path(sys.argv[2]), fit=longer)
