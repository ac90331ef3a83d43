"""A small labelling run without a language model, as a library call and as a program.

`python -m tests.labels.runs FOLDER WORKERS LOG SECONDS` labels a made-up log into FOLDER with a
generator that takes SECONDS for every call and appends a line to LOG when a call has ended.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enough.data.leakage import LeakageControls
from enough.generators.fake import FakeGenerator
from enough.labels.config import LabelConfig
from enough.labels.journal import call_key
from enough.labels.run import LabelRun
from enough.labels.workers import Processes
from enough.matching.matcher import MatchConfig
from enough.protocols import OnBatch, ScoredSequence
from enough.records import Dataset, Example, Record, Request
from enough.retrieval.pools import RetrievalConfig
from enough.retrieval.recency import RecencyRetriever
from enough.tasks import LAMP_TASKS
from enough.teacher.components import TargetConfig
from enough.teacher.preparation import Stages
from enough.teacher.proposals import SearchConfig
from tests.retrieval.tiny import BagEncoder

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "jetty")
TASK = LAMP_TASKS["LaMP-7"]


class SlowGenerator(FakeGenerator):
    """Scores that depend, in their last bits, on what is scored together, as real ones do."""

    def __init__(self, log: Path | None = None, seconds: float = 0.0) -> None:
        super().__init__()
        self.batch_tokens = 40  # so that a step takes several calls
        self.calls = 0
        self._log = log
        self._seconds = seconds

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        self.calls += 1
        time.sleep(self._seconds)
        together = call_key(self.fingerprint, sequences)
        rounding = int.from_bytes(together[:2], "little") * 1e-9
        scores = super().score(sequences, on_batch) + rounding
        if self._log is not None:
            with self._log.open("a") as file:
                file.write(f"{together.hex()}\n")
        return scores


def small_dataset(users: int = 6, requests: int = 6) -> Dataset:
    histories = {
        f"u{u}": tuple(
            Record(
                id=f"u{u}-{i}",
                owner=f"u{u}",
                context="",
                action=f"{WORDS[(u + i) % 10]} {WORDS[(u * i + 3) % 10]} number {u} {i}",
            )
            for i in range(5)
        )
        for u in range(users)
    }
    examples = tuple(
        Example(
            Request(f"q{n}", f"u{n % users}", TASK, f"Paraphrase: a walk {n}"),
            f"{WORDS[n % 10]} and {WORDS[(n + 3) % 10]} on the way",
        )
        for n in range(requests)
    )
    return Dataset(TASK, histories, {"train": examples})


def small_config(lambda_: float = 0.1) -> LabelConfig:
    return LabelConfig(
        chunk=2,
        retrieval=RetrievalConfig(retriever="recency", pool=5),
        matching=MatchConfig(controls=2),
        search=SearchConfig(max_records=3, actions=2, width=2),
        targets=TargetConfig(lambda_=lambda_),
    )


def small_stages(config: LabelConfig) -> Stages:
    encoder = BagEncoder()
    return Stages(
        LeakageControls(encoder),
        RecencyRetriever(),
        encoder,
        config.retrieval.pool,
        config.matching,
        encoder,
    )


def small_run(folder: Path, config: LabelConfig | None = None) -> LabelRun:
    return LabelRun([small_dataset()], config or small_config(), folder)


def digest(folder: Path) -> str:
    """Of all names and bytes in a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return found.hexdigest()


def main() -> None:
    folder, workers, log, seconds = sys.argv[1:]
    config = small_config()
    small_run(Path(folder), config).run(
        partial(small_stages, config),
        partial(SlowGenerator, Path(log), float(seconds)),
        Processes(int(workers)),
    )


if __name__ == "__main__":
    main()
