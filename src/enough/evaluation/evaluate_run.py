"""An evaluation into a folder: methods × tasks × seeds, resumable cell by cell.

```
labels/, labels-2/         ENOUGH's labels, where the recipe has it trained
controllers/TARGETS-SEED/  ENOUGH's controllers, likewise
trained/NAME-SEED/         other methods that learn
cells/NAME/TASK-SEED.parquet   rows as they were answered
rows.parquet               all rows, with likelihood gains and J
table.md                   the main table
```

In: a recipe and data. Out: the folder above. A finished cell is never run again; one that was made
with other settings is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from enough.baselines.controlled import EnoughConfig
from enough.baselines.registry import Group
from enough.controller.checkpoint import load_controller
from enough.data.digest import dataset_digest
from enough.errors import DataError
from enough.evaluation.cell_files import CellFiles, plain_recipe
from enough.evaluation.cell_work import CellCrew, CellJob, CellsHere
from enough.evaluation.cells import Cell
from enough.evaluation.equipment import Equipment, LoadGenerator
from enough.evaluation.main_table import main_table
from enough.evaluation.method_training import is_trained, train_controllers, train_method
from enough.evaluation.profile_values import Judge
from enough.evaluation.questions import Question
from enough.evaluation.ray_cells import CellsOnRay, WorkerParts, fingerprints_of
from enough.evaluation.recipe import EvaluateConfig, MethodLine, Recipe
from enough.evaluation.rows import Row, write_rows
from enough.evaluation.table_text import markdown
from enough.evaluation.table_values import MainTable, Setup, Shown
from enough.evaluation.workshop import Workshop
from enough.generators.config import GeneratorConfig
from enough.model_names import model_name
from enough.progress import OnStep, silent
from enough.records import Dataset
from enough.run_folders import held_folder, write_whole
from enough.teacher.components import Scale
from enough.teacher.preparation import Stages
from enough.teacher.specificity import SpecificityConfig

Trained = Mapping[tuple[str, int], Path]
"""(method, seed) -> the folder of what was trained for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """What an evaluation found: rows, their table, cells that were run and that were there."""

    rows: Sequence[Row]
    table: MainTable
    cells_made: int
    cells_found: int


class EvaluateRun:
    """One evaluation into one folder."""

    def __init__(self, recipe: Recipe, datasets: Sequence[Dataset], out: Path) -> None:
        self.recipe = recipe
        self.out = out
        self._datasets = list(datasets)
        self.digests = {dataset.task.name: dataset_digest(dataset) for dataset in datasets}
        self._questions: dict[str, list[Question]] = {}

    def run(
        self, load_stages: Callable[[], Stages], load: LoadGenerator, on_step: OnStep = silent
    ) -> Evaluated:
        """Train what is missing, run the cells that are missing, judge, and write the table."""
        with held_folder(self.out):
            stages = load_stages()
            controllers = self._controllers(stages, on_step)
            equipment = Equipment.of(self.recipe.config, stages, load)
            trained = self._methods(equipment, on_step) | controllers
            files = CellFiles(self.out / "cells", self.recipe.config, equipment, self.digests)
            crew = self._crew(equipment, load_stages, load)
            answered = self._cells(equipment, files, trained, crew, on_step)
            rows = self._judged(equipment, answered, _scales(self.recipe, trained), on_step)
            table = self._table(rows)
            settings = {"recipe": plain_recipe(self.recipe), "data": self.digests}
            write_rows(self.out / "rows.parquet", rows, settings)
            write_whole(self.out / "table.md", markdown(table).encode())
        return Evaluated(rows, table, files.made, files.found)

    def _controllers(self, stages: Stages, on_step: OnStep) -> dict[tuple[str, int], Path]:
        """ENOUGH's controllers where none are given; lines with the same targets share them."""
        config = self.recipe.config
        lines = [
            line
            for line in self.recipe.methods
            if isinstance(line.settings, EnoughConfig) and is_trained(line)
        ]
        workshop = Workshop(self.out, self._datasets, stages, on_step)
        found: dict[tuple[str, int], Path] = {}
        for kind in dict.fromkeys(line.settings.targets for line in lines):
            folders = train_controllers(kind, config, workshop, config.seeds)
            for line in lines:
                if line.settings.targets == kind:
                    of_seed = zip(config.seeds, folders, strict=True)
                    found |= {(line.name, seed): folder for seed, folder in of_seed}
        return found

    def _methods(self, equipment: Equipment, on_step: OnStep) -> dict[tuple[str, int], Path]:
        """All other methods that learn."""
        found = {}
        for line in self.recipe.methods:
            if not is_trained(line) or isinstance(line.settings, EnoughConfig):
                continue
            for seed in self.recipe.config.seeds:
                folder = self.out / "trained" / f"{line.name}-{seed}"
                train_method(
                    line, equipment, self._datasets, seed=seed, out=folder, on_step=on_step
                )
                found[line.name, seed] = folder
        return found

    def _crew(
        self, equipment: Equipment, load_stages: Callable[[], Stages], load: LoadGenerator
    ) -> CellCrew:
        config = self.recipe.config
        if config.engine.kind == "local":
            return CellsHere(equipment)
        parts = WorkerParts(load_stages, load, config, fingerprints_of(equipment))
        return CellsOnRay(config.engine, parts)

    def _cells(
        self,
        equipment: Equipment,
        files: CellFiles,
        trained: Trained,
        crew: CellCrew,
        on_step: OnStep,
    ) -> list[Row]:
        """Rows of all cells, in the order of tasks, methods and seeds."""
        rows: dict[Cell, list[Row] | None] = {}
        missing: list[CellJob] = []
        for dataset in self._datasets:
            for line in self.recipe.methods:
                # A method without any draw in it is the same in every run.
                for seed in self.recipe.config.seeds if _is_drawn(line) else (0,):
                    cell = Cell(line.name, dataset.task.name, seed)
                    folder = trained.get((line.name, seed), line.folder_of(seed))
                    rows[cell] = files.read(cell, line, folder)
                    if rows[cell] is None:
                        questions = self._asked(equipment, dataset, on_step)
                        missing.append(CellJob(cell, line, folder, questions))

        def keep(job: CellJob, found: list[Row]) -> None:
            files.write(job.cell, job.line, job.folder, found)
            rows[job.cell] = found

        crew.answer(missing, keep, on_step)
        return [row for found in rows.values() for row in found or ()]

    def _asked(self, equipment: Equipment, dataset: Dataset, on_step: OnStep) -> list[Question]:
        config, name = equipment.config, dataset.task.name
        if name not in self._questions:
            found = equipment.questions(dataset, config.split, config.requests, on_step)
            if not found:
                raise DataError(f"{name}: there is no request in {config.split!r} to evaluate on")
            self._questions[name] = found
        return self._questions[name]

    def _judged(
        self,
        equipment: Equipment,
        rows: Sequence[Row],
        scales: Mapping[str, Scale],
        on_step: OnStep,
    ) -> list[Row]:
        config = self.recipe.config
        slots = SpecificityConfig(config.slots, audited=0)
        judge = Judge(equipment.stages, equipment.scorer, config.targets, slots, scales)
        found = []
        for dataset in self._datasets:
            of_task = [row for row in rows if row.task == dataset.task.name]
            questions = self._asked(equipment, dataset, on_step)
            found += judge.judged(dataset, questions, of_task, on_step)
        return found

    def _table(self, rows: Sequence[Row]) -> MainTable:
        config = self.recipe.config
        shown = [
            Shown(line.name, _title(line), self._group(line), line.entry.paper_calls)
            for line in self.recipe.methods
        ]
        empty = next((line.name for line in self.recipe.methods if line.kind == "empty"), "empty")
        tasks = [dataset.task for dataset in self._datasets]
        return main_table(
            rows, tasks, shown, setup_of(config), champion=config.against, empty=empty
        )

    def _group(self, line: MethodLine) -> Group:
        """Variants of the tested method stand with the diagnostics, not beside its rivals."""
        tested = self.recipe.config.against
        kinds = {other.kind for other in self.recipe.methods if other.name == tested}
        return "diagnostic" if line.name != tested and line.kind in kinds else line.entry.group


def setup_of(config: EvaluateConfig) -> Setup:
    """What all methods had in common, in words."""
    pools = config.retrieval
    return Setup(
        generator=model_in_words(config.generator),
        encoder=f"{pools.encoder_name}; pools of {pools.pool} by {pools.retriever}",
        reranker="the generator" if config.reranker is None else model_in_words(config.reranker),
        decoding="written freely"
        if config.decoding == "free"
        else "closed answer sets by scoring every label; IC-RALM and REPLUG write freely",
    )


def model_in_words(config: GeneratorConfig) -> str:
    """A model, and its adapter if it has one."""
    adapter = "" if config.adapter is None else f" with the adapter {config.adapter.name}"
    return f"{model_name(config.model)}{adapter}"


def _title(line: MethodLine) -> str:
    title = str(getattr(line.settings, "title", line.entry.title))
    return title if line.name == line.kind else line.name


def _is_drawn(line: MethodLine) -> bool:
    return is_trained(line) or line.has_seeds or bool(getattr(line.settings, "is_drawn", False))


def _scales(recipe: Recipe, trained: Trained) -> dict[str, Scale]:
    """Of the labels that ENOUGH's first controller was trained on; none without ENOUGH."""
    for line in recipe.methods:
        if isinstance(line.settings, EnoughConfig):
            seed = recipe.config.seeds[0]
            given = line.settings.controller or line.folder_of(seed)
            folder = given or trained[line.name, seed]
            return dict(load_controller(folder).scales)
    return {}
