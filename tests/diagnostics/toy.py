"""A whole study without a language model, in a second: made-up people, a word-counting generator.

`toy_study(folder)` labels and trains for real; `toy_laboratory(folder)` puts profiles in front of
the fake generator, whose answer is the last action of a profile and whose likelihood is high for
words that the prompt holds.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from enough.controller.model import ModelConfig
from enough.controller.optimisation import FitConfig
from enough.controller.train_config import TrainConfig
from enough.data.folders import datasets_of
from enough.data.splits import SliceConfig
from enough.data.synthetic import WorldConfig
from enough.diagnostics.diagnostic import About
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.study import Study, StudyConfig
from enough.evaluation.workshop import Workshop
from enough.fleet.config import EngineConfig
from enough.generators.config import GeneratorConfig
from enough.labels.config import LabelConfig
from enough.progress import OnStep, silent
from enough.protocols import Generator
from enough.retrieval.pools import RetrievalConfig
from enough.teacher.components import TargetConfig
from enough.teacher.proposals import SearchConfig
from tests.evaluation.evaluate_fakes import LIGHT, Worded, stages

POINT = TargetConfig(beta=0.4, lambda_=0.5)
LABEL = LabelConfig(
    split="label",
    engine=EngineConfig(workers=1),
    slices=SliceConfig(tune=0.01, label=0.5, select=0.24, report=0.25),
    retrieval=RetrievalConfig(pool=5),
    matching=LIGHT,
    search=SearchConfig(max_records=3, actions=2, width=2, roots=()),
    targets=POINT,
)
TRAIN = TrainConfig(
    folds=3,
    seed=3,  # a controller that stops now and then, which tests of stopping need
    targets=POINT,
    model=ModelConfig(hidden=16, heads=2),
    fit=FitConfig(steps=12, requests=4, check_every=4, patience=2, learning_rate=1e-2),
)


def toy_config(**changes: Any) -> StudyConfig:
    world = WorldConfig(
        seed=1, users=16, requests_per_user=2, history=(6, 9), tasks=("LaMP-4", "LaMP-7")
    )
    return replace(
        StudyConfig(world=world, label=LABEL, visited=-1, train=TRAIN, requests=4), **changes
    )


def load_words(config: GeneratorConfig, threads: int) -> Generator:
    return Worded()


def toy_study(folder: Path, **changes: Any) -> Study:
    return open_toy(toy_config(**changes), folder, silent)


def open_toy(config: StudyConfig, folder: Path, on_step: OnStep) -> Study:
    datasets = {one.task.name: one for one in datasets_of(config.data, config.world)}
    ready = stages(config.label.retrieval.pool, config.label.matching)
    shop = Workshop(folder, list(datasets.values()), ready, on_step, load=load_words)
    labels = shop.label("labels", config.label)
    trained = shop.train(labels, "controller", config.train)
    return Study(config, config.label, datasets, ready, shop, labels, trained)


def toy_laboratory(folder: Path, **changes: Any) -> Laboratory:
    return Laboratory(toy_config(**changes), folder, generator=Worded(), opening=open_toy)


def about(study: Study) -> About:
    return About(study.tasks, study.point, study.label.search.max_records, is_made_up=True)
