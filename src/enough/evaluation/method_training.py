"""Trained methods of a study, each in a folder: made if it is not there, taken if it is.

In: a method's settings and the users to learn from: the slice "label" to fit on, "select" to choose
on, as for ENOUGH's own controller. Out: the folder. It appears when it is whole; what it was made
from lies in it, and another run that wants something else is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from enough.baselines.controlled import EnoughConfig
from enough.baselines.tools import Lesson, Material, TrainableConfig
from enough.bundled_models import new_folder
from enough.config import as_table
from enough.data.digest import dataset_digest
from enough.errors import ConfigError, DataError
from enough.evaluation.equipment import Equipment
from enough.evaluation.recipe import EvaluateConfig, MethodLine
from enough.evaluation.workshop import Workshop
from enough.progress import OnStep
from enough.records import Dataset
from enough.run_folders import first_difference, read_json, write_json
from enough.teacher.backup import Kind

MADE_FROM = "made_from.json"


def is_trained(line: MethodLine) -> bool:
    """Whether the method is trained by an evaluation that names it."""
    if isinstance(line.settings, EnoughConfig):
        return line.settings.controller is None and line.folder is None
    return line.folder is None and isinstance(line.settings, TrainableConfig)


def material(equipment: Equipment, datasets: Sequence[Dataset], on_step: OnStep) -> Material:
    """Lessons of all tasks, put together once for all methods that share the equipment."""
    tasks = tuple(dataset.task.name for dataset in datasets)
    if tasks not in equipment.materials:
        equipment.materials[tasks] = _put_together(equipment, datasets, on_step)
    return equipment.materials[tasks]


def _put_together(equipment: Equipment, datasets: Sequence[Dataset], on_step: OnStep) -> Material:
    requests = equipment.config.lessons
    found: dict[str, list[Lesson]] = {"label": [], "select": []}
    for split, lessons in found.items():
        for dataset in datasets:
            questions = equipment.questions(dataset, split, requests, on_step)
            lessons += [Lesson(question.asked, question.example) for question in questions]
        if not lessons:
            raise DataError(f"nobody is in the slice {split!r} to learn from; give more users")
    return Material(fit=tuple(found["label"]), select=tuple(found["select"]))


def train_method(
    line: MethodLine,
    equipment: Equipment,
    datasets: Sequence[Dataset],
    *,
    seed: int,
    out: Path,
    on_step: OnStep,
) -> dict[str, Any]:
    """Train a method into a folder, or find it there; returns what there is to tell."""
    made_from = _made_from(line, equipment, datasets, seed)
    if out.exists():
        if not (out / MADE_FROM).exists():
            raise ConfigError(f"{out}: is there, but no trained method; name another folder")
        found = read_json(out / MADE_FROM)
        if name := first_difference(found["settings"], made_from):
            raise ConfigError(
                f"{out}: was trained with another setting of {name}; name another folder"
            )
        report: dict[str, Any] = found["report"]
        return report
    settings: TrainableConfig = line.settings
    lessons = material(equipment, datasets, on_step)
    with new_folder(out) as folder:
        report = settings.train(lessons, equipment.tools(seed, None), folder, on_step)
        write_json(folder / MADE_FROM, {"settings": made_from, "report": report})
        folder.chmod(0o755)  # temporary folders are closed to others
    return report


def train_controllers(
    kind: Kind, config: EvaluateConfig, workshop: Workshop, seeds: Sequence[int]
) -> list[Path]:
    """ENOUGH's controllers on one kind of targets, one for every seed; labels are shared."""
    labels = workshop.label("labels", config.label)
    if config.rounds > 1:
        warm = workshop.train(labels, "controllers/warm", config.training(config.seeds[0]))
        labels = workshop.label("labels-2", config.label, workshop.visits(labels, warm))
    found = []
    for seed in seeds:
        name = f"controllers/{kind}-{seed}"
        training = dataclasses.replace(config.training(seed), kind=kind)
        workshop.train(labels, name, training)
        found.append(workshop.folder / name)
    return found


def _made_from(
    line: MethodLine, equipment: Equipment, datasets: Sequence[Dataset], seed: int
) -> dict[str, Any]:
    config = equipment.config
    return {
        "kind": line.kind,
        "settings": dataclasses.asdict(line.settings),
        "seed": seed,
        "lessons": config.lessons,
        "max_records": config.max_records,
        "slices": dataclasses.asdict(config.slices),
        "retrieval": as_table(config.retrieval),
        "generator": equipment.generator.fingerprint,
        "encoder": equipment.stages.encoder.fingerprint,
        "data": {dataset.task.name: dataset_digest(dataset) for dataset in datasets},
    }
