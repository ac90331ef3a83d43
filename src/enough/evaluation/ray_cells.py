"""Cells of an evaluation, answered by the actors of a Ray cluster.

In: cells that are missing, and how a worker loads what methods work with. Out: their rows, as from
one process but for the seconds. What was trained travels with a cell, rows travel back; the driver
alone writes, so no file system has to be shared. Models are loaded on every machine.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from enough.errors import ModelError
from enough.evaluation.cell_work import CellJob, OnRows, answer_cell
from enough.evaluation.cells import Cell
from enough.evaluation.equipment import Equipment, LoadGenerator
from enough.evaluation.recipe import EvaluateConfig
from enough.evaluation.rows import Row
from enough.fleet.config import EngineConfig
from enough.fleet.jobs import Tell
from enough.fleet.ray_crew import run_on_ray
from enough.progress import OnStep
from enough.teacher.preparation import Stages

Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """How every worker comes by its equipment.

    Attributes:
        load_stages, load: as in the driver; they travel, so they must be importable by name.
        config: the shared settings.
        fingerprints: of generator, reranker and encoder in the driver; a worker's must be the same.
    """

    load_stages: Callable[[], Stages]
    load: LoadGenerator
    config: EvaluateConfig
    fingerprints: tuple[str, ...]

    def equipment(self) -> Equipment:
        """Load it, and refuse what is not what the driver has."""
        found = Equipment.of(self.config, self.load_stages(), self.load)
        if (here := fingerprints_of(found)) != self.fingerprints:
            raise ModelError(
                f"a worker loaded other models than the driver ({here}, not {self.fingerprints}); "
                "install the same files on all machines and name generator.dtype"
            )
        return found


def fingerprints_of(equipment: Equipment) -> tuple[str, ...]:
    """Of everything an answer depends on."""
    frozen = (equipment.generator, equipment.reranker, equipment.stages.encoder)
    return tuple(one.fingerprint for one in frozen)


class CellsOnRay:
    """Implements `cell_work.CellCrew` on a cluster."""

    def __init__(self, engine: EngineConfig, parts: WorkerParts) -> None:
        self._engine = engine
        self._parts = parts

    def answer(self, jobs: Sequence[CellJob], on_rows: OnRows, on_step: OnStep) -> None:
        """Answer all; how far all workers are is one step."""
        if jobs:
            work = partial(open_work, self._parts)
            run_on_ray(jobs, len(jobs), work, self._engine, _CellDesk(jobs, on_rows, on_step))


def open_work(parts: WorkerParts) -> Callable[[Order, Tell], list[Row]]:
    """In a worker: load everything, and say how a cell is answered with it."""
    equipment = parts.equipment()

    def answer(order: Order, tell: Tell) -> list[Row]:
        def on_step(name: str, done: int, total: int, note: str = "") -> None:
            tell(done)

        with tempfile.TemporaryDirectory() as folder:
            return answer_cell(equipment, order.unpacked(Path(folder)), on_step)

    return answer


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """A cell on its way to a worker, with the files of what was trained for it."""

    job: CellJob
    trained: Files | None
    controller: Files | None

    @classmethod
    def of(cls, job: CellJob) -> Order:
        """Read the files."""
        given = getattr(job.line.settings, "controller", None)
        return cls(job, _packed(job.folder), _packed(given))

    def unpacked(self, place: Path) -> CellJob:
        """The cell with its files below a folder of the worker."""
        line, folder = self.job.line, None
        if self.trained is not None:
            folder = _unpacked(self.trained, place / "trained")
        if self.controller is not None:
            given = _unpacked(self.controller, place / "controller")
            changed = dataclasses.replace(line.settings, controller=given)
            line = dataclasses.replace(line, settings=changed)
        return dataclasses.replace(self.job, line=line, folder=folder)


def _packed(folder: Path | None) -> Files | None:
    if folder is None:
        return None
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _unpacked(files: Files, folder: Path) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


class _CellDesk:
    """Implements `jobs.Desk`: hands rows over, and counts answers of a lost worker once."""

    def __init__(self, jobs: Sequence[CellJob], on_rows: OnRows, on_step: OnStep) -> None:
        self._on_rows = on_rows
        self._on_step = on_step
        self._total = sum(len(job.questions) for job in jobs)
        self._answered: dict[Cell, int] = {}

    def order(self, job: CellJob) -> Order:
        return Order.of(job)

    def told(self, job: CellJob, news: Any) -> None:
        self._answered[job.cell] = max(news, self._answered.get(job.cell, 0))
        self._on_step("answering on Ray", sum(self._answered.values()), self._total, str(job.cell))

    def done(self, job: CellJob, result: list[Row]) -> None:
        self._on_rows(job, result)
