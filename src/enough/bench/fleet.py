"""How much faster several workers label than one, where one core is no limit.

In: cases and an engine. Out: `FleetBench`. The generator is a stand-in that waits for a fixed time
in every call, as for a server or a GPU of its own, so what is measured is the fleet: handing out
chunks, carrying results back, keeping journals and files. Loading and starting are left out: the
clock runs from the first finished call to the last event.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enough.fleet.config import EngineConfig
from enough.fleet.ray_cluster import connected
from enough.generators.fake import FakeGenerator
from enough.labels.chunk import ChunkJob
from enough.labels.config import LabelConfig
from enough.labels.ray_labels import RayFleet
from enough.labels.scoring_calls import CallReport
from enough.labels.workers import Processes
from enough.labels.workplace import Event, Fleet, Workplace
from enough.protocols import OnBatch, ScoredSequence
from enough.teacher.case import Case

_BATCH_TOKENS = 256  # so that a chunk takes many calls


class WaitingGenerator(FakeGenerator):
    """Waits in every call, and computes next to nothing."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.batch_tokens = _BATCH_TOKENS
        self._seconds = seconds

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Likelihoods, after a while."""
        time.sleep(self._seconds)
        return super().score(sequences, on_batch)


@dataclass(frozen=True, slots=True)
class FleetBench:
    """What one run measured.

    Attributes:
        calls: of the generator, the same with one worker and with several.
        seconds_per_call: that the stand-in waits.
        one_calls_per_s, calls_per_s: with one worker, with all of them.
        ratio: of the two.
        efficiency: ratio over workers.
        same_bytes: whether both wrote the same files.
    """

    engine: str
    workers: int
    chunks: int
    calls: int
    seconds_per_call: float
    one_calls_per_s: float
    calls_per_s: float
    ratio: float
    efficiency: float
    same_bytes: bool


@dataclass(frozen=True, slots=True)
class _Measured:
    calls: int
    calls_per_s: float
    digest: str


def run_fleet_bench(
    cases: Sequence[Case], config: LabelConfig, engine: EngineConfig, seconds: float
) -> FleetBench:
    """Label the cases with one worker, then with all."""
    workplace = Workplace(partial(WaitingGenerator, seconds), config.teacher)
    chunks = [tuple(cases[i : i + config.chunk]) for i in range(0, len(cases), config.chunk)]
    with _ready(engine):
        one, many = (
            _measured(_fleet(dataclasses.replace(engine, workers=count)), chunks, workplace)
            for count in (1, engine.workers)
        )
    ratio = many.calls_per_s / one.calls_per_s
    return FleetBench(
        engine=engine.kind,
        workers=engine.workers,
        chunks=len(chunks),
        calls=many.calls,
        seconds_per_call=seconds,
        one_calls_per_s=one.calls_per_s,
        calls_per_s=many.calls_per_s,
        ratio=ratio,
        efficiency=ratio / engine.workers,
        same_bytes=one == dataclasses.replace(many, calls_per_s=one.calls_per_s),
    )


@contextlib.contextmanager
def _ready(engine: EngineConfig) -> Iterator[None]:
    """One Ray for both measurements."""
    if engine.kind == "local":
        yield
        return
    with connected(engine):
        yield


def _fleet(engine: EngineConfig) -> Fleet:
    return RayFleet(engine) if engine.kind == "ray" else Processes(engine.workers)


def _measured(fleet: Fleet, chunks: Sequence[tuple[Case, ...]], workplace: Workplace) -> _Measured:
    moments: list[float] = []
    calls = 0

    def on_event(event: Event) -> None:
        nonlocal calls
        moments.append(time.perf_counter())
        calls += isinstance(event, CallReport)

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        jobs = [
            ChunkJob(chunk, folder / f"{i}.safetensors", folder / f"{i}.journal", "bench")
            for i, chunk in enumerate(chunks)
        ]
        fleet.run(jobs, len(jobs), workplace, on_event)
        digest = hashlib.sha256()
        for job in jobs:
            digest.update(job.part.read_bytes())
    return _Measured(calls, (calls - 1) / (moments[-1] - moments[0]), digest.hexdigest())
