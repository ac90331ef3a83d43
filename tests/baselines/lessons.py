"""Toy lessons: one record of each pool has the answer, and a word that gives it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enough.baselines.fitting import FittingConfig
from enough.baselines.method_files import SETTINGS, WEIGHTS
from enough.baselines.tools import Lesson, Material, Tools
from enough.protocols import Asked, OnBatch, ScoredSequence
from enough.records import Example
from tests.baselines.stand_ins import OpenFake, pool_of
from tests.conftest import make_record, make_request

QUICK = FittingConfig(steps=60, lessons=8, learning_rate=0.02, check_every=20)
FILLERS = ("harbour", "winter", "train", "garden", "letter", "storm")


class CountingFake(OpenFake):
    """Remembers how many sequences each call of `score` had."""

    def __init__(self, window: int = 4096) -> None:
        super().__init__(window)
        self.scored: list[int] = []

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        self.scored.append(len(sequences))
        return super().score(sequences, on_batch)


class HurtFake(OpenFake):
    """Every record in the prompt takes half a nat from the reference."""

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        counts = [self.text(sequence.tokens).count("[USER_ACTION]") for sequence in sequences]
        return super().score(sequences, on_batch) - 0.5 * np.array(counts)


def lesson(
    number: int, tools: Tools, size: int = 4, reference: str = "violet", action: str = ""
) -> Lesson:
    """The record with the answer shares no word with the query, so that it is found last.

    It is the oldest, too. Only the word "golden" in it, which is in no other record, tells.
    """
    rng = np.random.default_rng(number)
    user = f"user{number}"
    request = make_request(id=f"q{number}", user=user, input="description: a plain scene")
    good = make_record(1, owner=user, context="golden dusk", action=action or reference)
    others = [
        make_record(i, owner=user, context=f"a plain {rng.choice(FILLERS)}", action="umber")
        for i in range(2, size + 1)
    ]
    history = (good, *others)
    pool = pool_of([*others, good])
    asked = Asked(request, history, pool, tools.budget(request, pool))
    return Lesson(asked, Example(request, reference))


def material(tools: Tools, action: str = "") -> Material:
    """Twelve users to fit on, four others to choose on; pools of two sizes."""
    lessons = [lesson(number, tools, 4 - number % 2, action=action) for number in range(16)]
    return Material(tuple(lessons[:12]), tuple(lessons[12:]))


def trained(tools: Tools, folder: Path) -> Tools:
    return replace(tools, folder=folder)


def content(folder: Path) -> tuple[bytes, bytes]:
    return (folder / WEIGHTS).read_bytes(), (folder / SETTINGS).read_bytes()


class Steps:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []

    def __call__(self, name: str, done: int, total: int, note: str = "") -> None:
        self.told.append((name, done, total))
