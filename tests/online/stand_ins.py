"""Small encoders, policies and apps for the tests of `enough.online`: no model in reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from enough.controller.checkpoint import Trained, save_controller
from enough.data.leakage import LeakageControls
from enough.generators.fake import FakeTokenizer
from enough.labels.tree_files import Fingerprints
from enough.online.personaliser import Enough
from enough.online.policy import ControllerPolicy
from enough.online.untrained import UntrainedConfig, UntrainedSelector
from enough.protocols import Encoder, Floats
from enough.records import Record, Request
from enough.retrieval.dense import DenseRetriever
from enough.tasks import LAMP_TASKS
from enough.teacher.components import TargetConfig
from tests.controller.toy import controller
from tests.retrieval.tiny import BagEncoder

TWEETS = LAMP_TASKS["LaMP-7"]
FOR_FREE = UntrainedConfig(least_relevance=0, diversity=0, price=0)


class TableEncoder:
    """Vectors by hand, of queries and documents alike."""

    fingerprint = "by hand"

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self._vectors = vectors

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        rows = [self._vectors[text.strip()] for text in texts]
        dim = len(next(iter(self._vectors.values())))
        return np.array(rows, np.float32).reshape(len(texts), dim)


def tweet(name: str, text: str, date: str | None = None, owner: str = "ann") -> Record:
    """As an app makes one: a date as text, nothing parsed."""
    return Record(id=name, owner=owner, context="", action=text, date=date)


def asking(text: str, date: str | None = None) -> Request:
    return Request(id="now", user="ann", task=TWEETS, input=f"Paraphrase: {text}", date=date)


def untrained(
    config: UntrainedConfig | None = None,
    encoder: Encoder | None = None,
    *,
    window: int = 2000,
    pool: int = 20,
    max_records: int = 10,
) -> Enough:
    encoder = encoder or BagEncoder()
    return _app(UntrainedSelector(encoder, config), encoder, window, pool, max_records)


def controlled(*, max_records: int = 10, **changes: object) -> Enough:
    encoder = BagEncoder()
    policy = ControllerPolicy(random_controller("", "", **changes), encoder)
    return _app(policy, encoder, 2000, 20, max_records)


def _app(
    policy: ControllerPolicy | UntrainedSelector,
    encoder: Encoder,
    window: int,
    pool: int,
    max_records: int,
) -> Enough:
    return Enough(
        policy,
        LeakageControls(encoder),
        DenseRetriever(encoder),
        FakeTokenizer(),
        window=window,
        pool=pool,
        max_records=max_records,
    )


def random_controller(encoder: str, tokenizer: str, **changes: object) -> Trained:
    """Lively random weights, so that it neither stops at once nor takes everything."""
    import torch

    model = controller(("LaMP-4", "LaMP-7"), **changes)
    torch.manual_seed(3)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    with torch.no_grad():
        model.second.bias[0] += 0.6
    made_with = Fingerprints("generator", tokenizer, encoder)
    return Trained(model, TargetConfig(0.4, 0.1), 0.5, {}, made_with, {})


def saved_controller(
    folder: Path, encoder: str = "bag", tokenizer: str = "fake-words-1", **changes: object
) -> Path:
    save_controller(folder, random_controller(encoder, tokenizer, **changes))
    return folder
