"""What the selection benchmark decides on: requests with full pools, and a controller.

In: sizes and a seed. Out: requests and records of the made-up world with random unit vectors, and a
controller with random weights. Neither data nor training is needed: how long a decision takes does
not depend on what the numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from enough.controller.checkpoint import Trained
from enough.controller.features import PoolFeatures, assemble
from enough.controller.model import ModelConfig
from enough.controller.portraits import Portrait, portraits_of
from enough.controller.training import new_controller
from enough.data.synthetic import WorldConfig, make_world
from enough.labels.tree_files import Fingerprints
from enough.prompts.serialise import record_text
from enough.protocols import Budget, Floats
from enough.records import Request
from enough.retrieval.vectors import unit_rows
from enough.tasks import LAMP_TASKS
from enough.teacher.components import TargetConfig

_LIFE = 3.0  # fresh weights prefer the same kind of record at every step; larger ones do not


@dataclass(frozen=True, slots=True, eq=False)
class SelectSubject:
    """A request whose records are known, as `features.assemble` takes it."""

    request: Request
    query: Floats
    portraits: tuple[Portrait, ...]
    scores: Floats
    budget: Budget

    def features(self) -> PoolFeatures:
        """What the controller sees; a part of every decision."""
        return assemble(self.request, self.query, self.portraits, self.scores, self.budget)


def random_controller(seed: int) -> Trained:
    """Weights of the default shape for six tasks."""
    model = new_controller(ModelConfig(), tuple(LAMP_TASKS), seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():  # what a fit starts from says nothing
                parameter.normal_(std=0.1, generator=torch.Generator().manual_seed(seed))
            parameter.mul_(_LIFE)
    return Trained(model.eval(), TargetConfig(0.4, 0.1), 1.0, {}, Fingerprints("", "", ""), {})


def made_up_subjects(
    count: int, *, pool: int, max_records: int, tasks: Sequence[str], dim: int, seed: int
) -> list[SelectSubject]:
    """Requests of the made-up world, task by task; every profile of `max_records` fits."""
    rng = np.random.default_rng(seed)
    datasets = list(make_world(WorldConfig(seed=seed)).datasets.values())
    subjects = []
    for i in range(count):
        dataset = datasets[i % len(datasets)]
        example = dataset.splits["dev"][i // len(datasets) % len(dataset.splits["dev"])]
        # A controller of other tasks gets these texts under its own names.
        task = replace(dataset.task, name=tasks[i % len(tasks)])
        everything = [record for history in dataset.histories.values() for record in history]
        places = rng.choice(len(everything), pool, replace=pool > len(everything))
        records = tuple(everything[place] for place in places)
        tokens = tuple(len(f"{one.context} {one.action}".split()) + 8 for one in records)
        vectors = unit_rows(rng.normal(size=(2 * pool + 1, dim)).astype(np.float32))
        subjects.append(
            SelectSubject(
                replace(example.request, task=task),
                vectors[0],
                tuple(portraits_of(records, [record_text(one) for one in records], vectors[1:])),
                np.sort(rng.random(pool, np.float32))[::-1],
                Budget(max_records, sum(tokens), tokens),
            )
        )
    return subjects
