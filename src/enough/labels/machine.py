"""Who does a labelling run on this machine: which fleet, how many workers, a generator for each."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from enough.fleet.devices import devices_here
from enough.generators.config import GeneratorConfig
from enough.generators.loading import load_configured
from enough.labels.config import LabelConfig
from enough.labels.workers import Processes
from enough.labels.workplace import Fleet
from enough.protocols import Generator, OnBatch, ScoredSequence, Tokens
from enough.torch_threads import torch_threads

_MOST_WORKERS = 8  # each holds the model


class OnThreads:
    """A generator that computes on a fixed number of threads: another one rounds differently."""

    def __init__(self, inner: Generator, threads: int) -> None:
        self.tokenizer = inner.tokenizer
        self.fingerprint = inner.fingerprint
        self.window = inner.window
        self.batch_tokens = inner.batch_tokens
        self._inner = inner
        self._count = threads

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """The inner generator's, on so many threads."""
        with torch_threads(self._count):
            return self._inner.score(sequences, on_batch)

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """The same."""
        with torch_threads(self._count):
            return self._inner.rescore(sequences)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """Passed on."""
        return self._inner.generate(prompts, max_new_tokens)


def load_generator(config: GeneratorConfig, threads: int) -> Generator:
    """The generator of one worker, on so many threads where transformers runs it on a CPU."""
    if config.is_elsewhere:
        return load_configured(config)
    with torch_threads(threads):
        generator = load_configured(config)
    return OnThreads(generator, threads)


def load_fleet(config: LabelConfig) -> Fleet:
    """Who labels: actors of a cluster, or processes of this machine with a GPU each."""
    if config.engine.kind == "ray":
        from enough.labels.ray_labels import RayFleet  # noqa: PLC0415 (an extra)

        return RayFleet(config.engine)
    devices = () if config.generator.device == "cpu" else devices_here()
    named = config.generator.device is not None
    return Processes(worker_count(config, devices), () if named else devices)


def worker_count(config: LabelConfig, devices: Sequence[str]) -> int:
    """As configured; or else one per GPU, or one per core.

    One alone for a GPU that is named, or for another's engine, which has batches of its own.
    """
    if config.engine.workers:
        return config.engine.workers
    if config.generator.is_elsewhere:
        return 1
    if devices:
        return len(devices) if config.generator.device is None else 1
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(_MOST_WORKERS, max(1, cores // config.threads))
