"""A small evaluation without a language model, as a library call and as a program.

`python -m tests.evaluation.evaluate_fakes FOLDER CONTROLLER CALLS` evaluates into FOLDER with a
generator that kills its own process in the call of that number.
"""

from __future__ import annotations

import os
import signal
import sys
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enough.baselines.registry import method_config
from enough.controller.checkpoint import save_controller
from enough.data.leakage import LeakageControls
from enough.data.splits import SliceConfig
from enough.data.synthetic import WorldConfig, make_world
from enough.evaluation.evaluate_run import Evaluated, EvaluateRun
from enough.evaluation.recipe import EvaluateConfig, MethodLine, Recipe
from enough.generators.config import GeneratorConfig
from enough.matching.matcher import MatchConfig
from enough.protocols import Floats, OnBatch, OpenGenerator, ScoredSequence, Steered, Tokens
from enough.records import Dataset
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.pools import RetrievalConfig
from enough.teacher.components import Scale
from enough.teacher.preparation import Stages
from tests.baselines.stand_ins import OpenFake
from tests.online.stand_ins import random_controller
from tests.retrieval.tiny import BagEncoder

TASKS = ("LaMP-4", "LaMP-7")
LIGHT = MatchConfig(controls=1, content=2, length=99, relevance=2, time=99)
QUICK = {"steps": 4, "lessons": 4, "check_every": 2}
_STEPS, _VOCABULARY = 6, 8


def common_words(prefix: list[str], suffix: list[str]) -> NDArray[np.float64]:
    """Attention to every word that the suffix holds, too."""
    return np.array([float(word in suffix) for word in prefix])


class Worded(OpenFake):
    """An open fake for any prompts: each prompt's next token follows from its checksum."""

    def __init__(self, window: int = 4096) -> None:
        super().__init__(window, attend=common_words)

    def _steered(self, answer: Steered, max_new_tokens: int) -> str:
        steps = range(min(_STEPS, max_new_tokens))
        tokens = (answer.steering.next(_log_probs(answer.prompts, step)) for step in steps)
        return " ".join(map(str, tokens))


def _log_probs(prompts: Sequence[Tokens], step: int) -> Floats:
    draws = [
        np.random.default_rng((zlib.crc32(prompt.tobytes()), step)).normal(size=_VOCABULARY)
        for prompt in prompts
    ]
    raw = np.array(draws)  # [prompts, vocabulary]
    return np.asarray(raw - np.log(np.exp(raw).sum(axis=1, keepdims=True)), np.float32)


class Interrupted(Exception):
    """What stops a run in a test."""


class Stopping(Worded):
    """Answers so often, then raises, or kills the whole process."""

    def __init__(self, calls: int, kill: bool = False) -> None:
        super().__init__()
        self._left = calls
        self._kill = kill

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        self._count()
        return super().generate(prompts, max_new_tokens)

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        self._count()
        return super().steer(answers, max_new_tokens)

    def attention(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        self._count()
        return super().attention(prefix, suffixes)

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            if self._kill:
                os.kill(os.getpid(), signal.SIGKILL)
            raise Interrupted


class Broken(Stopping):
    """Nothing may reach it, no score either."""

    def __init__(self) -> None:
        super().__init__(0)

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        raise Interrupted


def line(kind: str, name: str = "", **table: Any) -> MethodLine:
    return MethodLine(name or kind, kind, method_config(kind, table, "test"))


def lines(controller: Path) -> tuple[MethodLine, ...]:
    """One of every sort: a retriever, a reranker, several prompts, drawn, trained, an oracle."""
    return (
        line("bm25", k=2),
        line("icr", k=2),
        line("ic-ralm", k=2),
        line("enough", controller=str(controller)),
        line("empty"),
        line("random", k=2),
        line("ropg-kd", k=2, fit=QUICK),
        line("oracle-record"),
    )


def config(**changes: Any) -> EvaluateConfig:
    values: dict[str, Any] = {
        "requests": 2,
        "seeds": (0, 1),
        "lessons": 2,
        "max_records": 3,
        "slots": "all",
        "slices": SliceConfig(tune=0.01, label=0.6, select=0.29, report=0.1),
        "retrieval": RetrievalConfig(pool=5),
        "matching": LIGHT,
    }
    return EvaluateConfig(**(values | changes))


def datasets(seed: int = 0) -> list[Dataset]:
    world = WorldConfig(seed=seed, users=12, requests_per_user=2, history=(6, 9), tasks=TASKS)
    return list(make_world(world).datasets.values())


def stages(pool: int = 5, matching: MatchConfig = LIGHT) -> Stages:
    encoder = BagEncoder()
    return Stages(
        LeakageControls(encoder), DenseRetriever(encoder), encoder, pool, matching, encoder
    )


def saved_controller(folder: Path) -> Path:
    """A random one of both tasks that knows what a unit of gain is."""
    trained = random_controller("bag", "fake-words-1")
    save_controller(folder, replace(trained, scales=dict.fromkeys(TASKS, Scale(0.5, 0.25))))
    return folder


def evaluate(
    recipe: Recipe,
    folder: Path,
    generator: OpenGenerator | None = None,
    data: Sequence[Dataset] | None = None,
) -> Evaluated:
    answering = generator or Worded()

    def load(_: GeneratorConfig) -> OpenGenerator:
        return answering

    return EvaluateRun(recipe, data or datasets(), folder).run(stages, load)


def main() -> None:
    folder, controller, calls = sys.argv[1:]
    recipe = Recipe(config(), lines(Path(controller)))
    evaluate(recipe, Path(folder), Stopping(int(calls), kill=True))


if __name__ == "__main__":
    main()
