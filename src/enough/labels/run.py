"""A labelling run: from data sets and a generator to a folder of labels.

In: data sets and settings. Out: the folder described in `folder`. What is there already is
not made again: finished chunks are skipped, an interrupted one goes on from its journal, and
targets for another β or λ come from stored likelihoods without any generator.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enough.data.digest import dataset_digest
from enough.data.folders import require_one_per_task
from enough.data.splits import draw_examples
from enough.errors import ConfigError, DataError
from enough.labels.chunk import ChunkJob
from enough.labels.config import LabelConfig
from enough.labels.finish import finish_targets, finish_trees
from enough.labels.folder import LabelFolder
from enough.labels.tree_files import Fingerprints
from enough.labels.visits import Visits
from enough.labels.workplace import Fleet, OnEvent, Workplace
from enough.progress import OnStep, silent
from enough.protocols import Generator
from enough.records import Dataset, Example
from enough.run_folders import held_folder
from enough.teacher.preparation import Stages, cases_of

log = logging.getLogger(__name__)
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some requests of one task, by number."""

    dataset: Dataset
    number: int
    examples: tuple[Example, ...]


class LabelRun:
    """One run into one folder."""

    def __init__(
        self,
        datasets: Sequence[Dataset],
        config: LabelConfig,
        folder: Path,
        visits: Visits | None = None,
    ) -> None:
        require_one_per_task(datasets)
        self.config = config
        self.folder = LabelFolder(folder)
        self.chunks = [chunk for dataset in datasets for chunk in _chunks(dataset, config)]
        if not self.chunks:
            raise DataError(f"there is no request in the split {config.split!r} to label")
        self._settings = {
            "format": FORMAT,
            "config": config.of_likelihoods,
            "data": {dataset.task.name: dataset_digest(dataset) for dataset in datasets},
        }
        self._visits = visits
        if visits is not None:
            visits.require_same_teacher(self._settings)
            self._settings["visits"] = visits.settings()

    @property
    def requests(self) -> int:
        """How many requests there are to label, finished ones included."""
        return sum(len(chunk.examples) for chunk in self.chunks)

    @property
    def unfinished(self) -> list[Chunk]:
        """Chunks whose trees are not there."""
        return [chunk for chunk in self.chunks if not self._part(chunk).exists()]

    def run(
        self,
        stages: Callable[[], Stages],
        load: Callable[[], Generator],
        fleet: Fleet,
        on_event: OnEvent | None = None,
        on_step: OnStep = silent,
    ) -> dict[str, Any]:
        """Label what is missing, then write manifest and targets; returns the latter's manifest.

        Args:
            stages: loads encoder and retriever; called only if something is missing.
            load: loads the generator in each worker; the same.
            fleet: does the work.
            on_event: told of calls and chunks.
            on_step: told how far preparations are.
        """
        with held_folder(self.folder.path):
            self.folder.require_settings(self._settings)
            self.folder.verify()
            if missing := self.unfinished:
                self.folder.manifest_file.unlink(missing_ok=True)
                known = self.folder.made_with() or self._earlier_models()
                expected = None if known is None else known.generator
                workplace = Workplace(load, self.config.teacher, expected)
                jobs = self._jobs(missing, stages, on_step)
                fleet.run(jobs, len(missing), workplace, on_event or (lambda _: None))
            shutil.rmtree(self.folder.path / "journal", ignore_errors=True)
            frozen = None if self._visits is None else self._visits.calibration()
            finish_trees(self.folder, self.config, frozen)
            return finish_targets(self.folder, self.config)

    def _jobs(
        self, chunks: Sequence[Chunk], stages: Callable[[], Stages], on_step: OnStep
    ) -> Iterator[ChunkJob]:
        """Cases of one task after the other, those with the fewest records first.

        Theirs are made soonest: workers begin with them, and the others are made meanwhile.
        """
        ready, known = stages(), self.folder.made_with() or self._earlier_models()
        trees = {} if self._visits is None else self._visits.trees()
        if known is not None and known.encoder != ready.encoder.fingerprint:
            raise ConfigError(
                f"{self.folder.path}: was labelled with another encoder ({known.encoder}, not "
                f"{ready.encoder.fingerprint}); label into another folder"
            )
        tasks = {chunk.dataset.task.name: chunk.dataset for chunk in chunks}
        for dataset in sorted(tasks.values(), key=_records):
            of_task = [chunk for chunk in chunks if chunk.dataset is dataset]
            examples = [example for chunk in of_task for example in chunk.examples]
            cases = cases_of(dataset, examples, ready, on_step)
            for chunk in of_task:
                chosen = tuple(next(cases) for _ in chunk.examples)
                if self._visits is not None:
                    chosen = tuple(self._visits.added_to(case) for case in chosen)
                yield ChunkJob(
                    chosen,
                    self._part(chunk),
                    self._journal(chunk),
                    ready.encoder.fingerprint,
                    earlier={case.name: trees[case.name] for case in chosen if case.name in trees},
                )

    def _earlier_models(self) -> Fingerprints | None:
        return None if self._visits is None else LabelFolder(self._visits.earlier).made_with()

    def _part(self, chunk: Chunk) -> Path:
        return self.folder.part(chunk.dataset.task.name, chunk.number)

    def _journal(self, chunk: Chunk) -> Path:
        return self.folder.journal(chunk.dataset.task.name, chunk.number)


def _records(dataset: Dataset) -> int:
    return sum(map(len, dataset.histories.values()))


def _chunks(dataset: Dataset, config: LabelConfig) -> list[Chunk]:
    examples = draw_examples(dataset, config.split, config.requests, config.seed, config.slices)
    size = config.chunk
    return [
        Chunk(dataset, number, tuple(examples[start : start + size]))
        for number, start in enumerate(range(0, len(examples), size))
    ]
