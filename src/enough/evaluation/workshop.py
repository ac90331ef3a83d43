"""Labels and controllers of a study, in one folder: the commands of that name as functions.

In: data sets, the frozen stages and a folder. Out: label folders and controllers in it. Each step
goes on from what it finds there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from enough.controller.checkpoint import Trained, load_controller
from enough.controller.labelled_folder import read_labelled
from enough.controller.train_config import TrainConfig
from enough.controller.train_folder import TrainRun
from enough.controller.visiting import visited_states
from enough.generators.config import GeneratorConfig
from enough.labels.config import LabelConfig
from enough.labels.machine import load_fleet, load_generator
from enough.labels.run import LabelRun
from enough.labels.visits import Visits
from enough.labels.workplace import ChunkDone, Event
from enough.progress import OnStep
from enough.protocols import Generator
from enough.records import Dataset
from enough.teacher.preparation import Stages

LoadForWorker = Callable[[GeneratorConfig, int], Generator]
"""From settings and a number of threads to a generator; must be importable by name."""


@functools.lru_cache(maxsize=2)
def load_remembering(config: GeneratorConfig, threads: int) -> Generator:
    """The generator of one worker, with the likelihoods that all workers keep.

    A process loads it once, so that many small runs with one worker do not wait for it each time.
    """
    from enough.generators.score_cache import CachedGenerator  # noqa: PLC0415 (heavy)

    return CachedGenerator(load_generator(config, threads))


@dataclass(slots=True, eq=False)
class Workshop:
    """What all steps need.

    Attributes:
        load: makes the generator of one labelling worker; None: as `enough label` does.
            `load_remembering` keeps likelihoods for other label folders, too: a profile that
            several of them hold is scored once, but last bits then depend on who scored it.
    """

    folder: Path
    datasets: list[Dataset]
    stages: Stages
    on_step: OnStep
    load: LoadForWorker | None = None

    def label(self, name: str, config: LabelConfig, visits: Visits | None = None) -> Path:
        """A folder of labels."""
        run = LabelRun(self.datasets, config, self.folder / name, visits)
        done = run.requests - sum(len(chunk.examples) for chunk in run.unfinished)

        def on_event(event: Event) -> None:
            nonlocal done
            done += event.requests if isinstance(event, ChunkDone) else 0
            self.on_step(f"labelling, {name}", done, run.requests)

        load = functools.partial(self.load or load_generator, config.generator, config.threads)
        run.run(lambda: self.stages, load, load_fleet(config), on_event, self.on_step)
        return self.folder / name

    def train(self, labels: Path, name: str, config: TrainConfig) -> Trained:
        """A controller."""
        run = TrainRun(labels, self.datasets, config, self.folder / name)
        run.run(lambda: self.stages.encoder, self.on_step)
        return load_controller(self.folder / name, encoder=self.stages.encoder.fingerprint)

    def visits(self, labels: Path, warm: Trained, limit: int = 0) -> Visits:
        """The states of a controller, for so many requests of each task; 0: all."""
        data = read_labelled(labels, self.datasets, self.stages.encoder)
        chosen = []
        for dataset in self.datasets:
            of_task = [r for r in data.requests if r.features.task == dataset.task.name]
            chosen += of_task[: limit or None]
        return Visits(labels, visited_states(warm, chosen))
