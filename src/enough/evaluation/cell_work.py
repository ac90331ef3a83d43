"""Cells as jobs: whoever answers one, it is answered in the same way.

In: cells that are missing. Out: their rows, cell by cell, in any order. `CellsHere` answers them in
this process; `ray_cells.CellsOnRay` has the workers of a cluster answer them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from enough.baselines.tools import Foreseeing
from enough.evaluation.cells import Cell, run_cell
from enough.evaluation.equipment import Equipment
from enough.evaluation.questions import Question
from enough.evaluation.recipe import MethodLine
from enough.evaluation.rows import Row
from enough.progress import OnStep, silent


@dataclass(frozen=True, slots=True, eq=False)
class CellJob:
    """A cell to be answered.

    Attributes:
        cell: its name.
        line: the method's settings.
        folder: what was trained for it.
        questions: the requests.
    """

    cell: Cell
    line: MethodLine
    folder: Path | None
    questions: Sequence[Question]


OnRows = Callable[[CellJob, list[Row]], None]


class CellCrew(Protocol):
    """Answers cells, in any order."""

    def answer(self, jobs: Sequence[CellJob], on_rows: OnRows, on_step: OnStep) -> None:
        """Answer all; each cell's rows are handed over once, as soon as they are there."""
        ...


def answer_cell(equipment: Equipment, job: CellJob, on_step: OnStep = silent) -> list[Row]:
    """Build the method and ask it everything."""
    method = job.line.settings.build(equipment.tools(job.cell.seed, job.folder))
    if equipment.config.batched and isinstance(method, Foreseeing):
        method.foresee([question.asked for question in job.questions])
    return run_cell(job.cell, method, job.questions, equipment.meters, on_step)


@dataclass(frozen=True, slots=True, eq=False)
class CellsHere:
    """Implements `CellCrew`, one cell after the other."""

    equipment: Equipment

    def answer(self, jobs: Sequence[CellJob], on_rows: OnRows, on_step: OnStep) -> None:
        """Answer all."""
        for job in jobs:
            on_rows(job, answer_cell(self.equipment, job, on_step))
