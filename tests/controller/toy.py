"""Small requests, trees and controllers for the tests of `enough.controller`."""

from __future__ import annotations

import numpy as np
import torch

from enough.controller.examples import LabelledRequest
from enough.controller.features import PoolFeatures, featurise
from enough.controller.model import Controller, ModelConfig
from enough.controller.training import new_controller
from enough.protocols import Budget
from enough.records import Candidate
from enough.tasks import LAMP_TASKS
from enough.teacher.components import raw_components
from tests.conftest import make_record, make_request
from tests.retrieval.tiny import BagEncoder
from tests.teacher.cases import tree_of_values

SMALL = ModelConfig(dim=64, hidden=16, heads=2)
WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")


def features(
    size: int = 4, *, task: str = "LaMP-7", seed: int = 0, tokens: tuple[int, ...] | None = None
) -> PoolFeatures:
    """Random words; every second record has the same action."""
    rng = np.random.default_rng(seed)
    records = [
        make_record(
            i + 1, context=" ".join(rng.choice(WORDS, 3)), action=WORDS[i % 2 * (1 + seed) % 8]
        )
        for i in range(size)
    ]
    pool = tuple(Candidate(record, float(1 / (i + 1))) for i, record in enumerate(records))
    request = make_request(LAMP_TASKS[task], id=f"q{seed}", input="article: amber dune")
    budget = Budget(min(3, size), 500, tokens or tuple(100 + 10 * i for i in range(size)))
    return featurise(request, pool, budget, BagEncoder())


def controller(tasks: tuple[str, ...] = ("LaMP-4", "LaMP-7"), **changes: object) -> Controller:
    """Fresh weights, but for those that a fit starts from at zero: they are random, too."""
    values = {"dim": 64, "hidden": 16, "heads": 2} | changes
    model = new_controller(ModelConfig(**values), tasks, seed=0).eval()  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(std=0.1, generator=generator)
    return model


def labelled(size: int = 3, seed: int = 0, task: str = "LaMP-7") -> LabelledRequest:
    """All profiles of up to two records with made-up likelihoods."""
    one = features(size, seed=seed, task=task)
    rng = np.random.default_rng([seed, 1])
    singles = [(i,) for i in range(size)]
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    likelihoods = {profile: float(rng.normal(-3, 1)) for profile in [(), *singles, *pairs]}
    tree = tree_of_values(likelihoods, [int(t) for t in one.tokens], min(3, size))
    return LabelledRequest(one, tree, raw_components(tree))
