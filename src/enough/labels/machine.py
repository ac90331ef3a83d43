"""What one machine can do for a labelling run: how many workers, and a generator for each."""

from __future__ import annotations

import os

from enough.generators.config import GeneratorConfig
from enough.labels.config import LabelConfig
from enough.protocols import Generator

_MOST_WORKERS = 8  # each holds the model


def load_generator(config: GeneratorConfig, threads: int) -> Generator:
    """The generator of one worker, on so many threads where it runs on a CPU."""
    import torch  # noqa: PLC0415 (heavy)

    from enough.generators.hf import HFGenerator  # noqa: PLC0415

    torch.set_num_threads(threads)
    return HFGenerator.load(config)


def worker_count(config: LabelConfig) -> int:
    """As configured; or else one per core on a CPU, one on a GPU."""
    if config.workers:
        return config.workers
    import torch  # noqa: PLC0415 (heavy)

    if torch.cuda.is_available() and config.generator.device != "cpu":
        return 1
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(_MOST_WORKERS, max(1, cores // config.threads))
