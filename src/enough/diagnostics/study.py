"""What all diagnostics are about: data, a frozen generator, labels, and one trained controller.

In: `StudyConfig`, a folder. Out: an open `Study`. Labels and a controller that are named are taken
as they are; those that are not are made in the folder, which goes on from what it finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from enough.config import require_at_least
from enough.controller.checkpoint import Trained, load_controller
from enough.controller.train_config import TrainConfig
from enough.data.folders import datasets_of
from enough.data.synthetic import WorldConfig
from enough.errors import ConfigError, DataError
from enough.evaluation.workshop import Workshop, load_remembering
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder
from enough.progress import OnStep
from enough.records import Dataset
from enough.tasks import Task
from enough.teacher.components import Scale, TargetConfig
from enough.teacher.preparation import Stages, load_stages


@dataclass(frozen=True, slots=True)
class StudyConfig:
    """What is studied.

    Attributes:
        data: folders with logs or LaMP files; none: the made-up people of `world`.
        labels: a folder of `enough label`, whose teacher is used; None: it is made with `label`.
        controller: a folder of `enough train`; None: it is trained with `train`.
        label: the teacher, where labels are made; its split must be the slice "label".
        visited: so many requests per task get a second round of labels; 0: all; -1: no round.
        train: the controller, where it is trained, and all variants of it.
        split: whose requests are reported.
        choose_on: on whose everything is chosen: lengths, quantiles.
        requests: per task and slice, drawn at random; 0 takes all.
        slots: "all" measures specificity on every slot of a profile, "one" on a sampled one.
        seed: for the draw.
    """

    data: tuple[Path, ...] = ()
    world: WorldConfig = field(default_factory=WorldConfig)
    labels: Path | None = None
    controller: Path | None = None
    label: LabelConfig = field(default_factory=lambda: LabelConfig(split="label"))
    visited: int = 0
    train: TrainConfig = field(default_factory=TrainConfig)
    split: str = "report"
    choose_on: str = "select"
    requests: int = 50
    slots: Literal["one", "all"] = "all"
    seed: int = 0

    def __post_init__(self) -> None:
        require_at_least(self, {"visited": -1, "requests": 0, "seed": 0}, "study.")
        if self.labels is None and self.label.split != "label":
            raise ConfigError('study.label.split must be "label": others are reported on')
        if self.labels is None and self.label.targets != self.train.targets:
            raise ConfigError("study.label.targets and study.train.targets must be the same")
        if self.controller is not None and self.labels is None:
            raise ConfigError("study.controller needs study.labels, the labels it was trained on")

    @property
    def teacher(self) -> LabelConfig:
        """Its settings: of the labels that are named, or of those to be made."""
        if self.labels is None:
            return self.label
        folder = LabelFolder(self.labels)
        folder.require_finished()
        return LabelConfig.of_folder(folder)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """An open study.

    Attributes:
        config: as given.
        label: the teacher's settings: the config's, or those of the labels that were named.
        datasets: by task.
        stages: leakage controls, retriever, encoder, matching.
        shop: makes further labels and controllers in the study's folder.
        labels: the folder the controller was trained on.
        trained: the controller.
    """

    config: StudyConfig
    label: LabelConfig
    datasets: Mapping[str, Dataset]
    stages: Stages
    shop: Workshop
    labels: Path
    trained: Trained

    @property
    def tasks(self) -> dict[str, Task]:
        """By name."""
        return {name: dataset.task for name, dataset in self.datasets.items()}

    @property
    def scales(self) -> Mapping[str, Scale]:
        """Of the tasks, as the labels froze them."""
        return self.trained.scales

    @property
    def point(self) -> TargetConfig:
        """β and λ of the controller."""
        return self.trained.point


def open_study(config: StudyConfig, folder: Path, on_step: OnStep) -> Study:
    """Read or make everything a study needs."""
    datasets = {one.task.name: one for one in datasets_of(config.data, config.world)}
    label = config.teacher
    on_step("loading the encoder", 0, 1)
    stages = load_stages(label.retrieval, label.matching)
    on_step("loading the encoder", 1, 1)
    shop = Workshop(folder, list(datasets.values()), stages, on_step, load=load_remembering)
    labels, trained = _made(config, label, shop)
    if unknown := sorted(datasets.keys() - trained.scales.keys()):
        raise DataError(f"the labels hold no request of {unknown[0]}", path=labels)
    return Study(config, label, datasets, stages, shop, labels, trained)


def _made(config: StudyConfig, label: LabelConfig, shop: Workshop) -> tuple[Path, Trained]:
    labels = config.labels
    if labels is None:
        labels = shop.label("labels", label)
        if config.visited >= 0:
            warm = shop.train(labels, "warm", config.train)
            labels = shop.label("both", label, shop.visits(labels, warm, config.visited))
    if config.controller is not None:
        encoder = shop.stages.encoder.fingerprint
        return labels, load_controller(config.controller, encoder=encoder)
    return labels, shop.train(labels, "controller", config.train)
