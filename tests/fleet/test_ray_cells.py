"""An evaluation on Ray: the same cells as without, but for what a clock says."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from enough.errors import EnoughError
from enough.evaluation.evaluate_run import Evaluated, EvaluateRun
from enough.evaluation.recipe import Recipe
from enough.evaluation.rows import Row, Seconds, read_rows
from enough.fleet.config import EngineConfig
from enough.generators.config import GeneratorConfig
from enough.parquet_rows import read_settings
from enough.protocols import OpenGenerator, Tokens
from tests.evaluation.evaluate_fakes import (
    Worded,
    config,
    datasets,
    evaluate,
    line,
    saved_controller,
    stages,
)

pytestmark = pytest.mark.usefixtures("two_cpus")


class LostOnce(Worded):
    """The first worker that answers is gone before it has answered; the driver is not."""

    def __init__(self, mark: Path) -> None:
        super().__init__()
        self._mark = mark

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        if str(os.getpid()) != self._mark.read_text() and not self._mark.with_name("lost").exists():
            self._mark.with_name("lost").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().generate(prompts, max_new_tokens)


def _load(mark: Path, _: GeneratorConfig) -> OpenGenerator:
    return LostOnce(mark)


class Other(Worded):
    """What a machine with other files would load."""

    def __init__(self, driver: int) -> None:
        super().__init__()
        self.fingerprint = "driver's" if os.getpid() == driver else "worker's"


def _load_other(driver: int, _: GeneratorConfig) -> OpenGenerator:
    return Other(driver)


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    controller = str(saved_controller(tmp_path / "controller"))
    methods = (
        line("bm25", k=2),
        line("enough", controller=controller),
        line("empty"),
        line("random", k=2),
        line("ropg-kd", k=2, fit={"steps": 4, "lessons": 4, "check_every": 2}),
    )
    return Recipe(config(engine=EngineConfig(kind="ray", workers=2)), methods)


def cells(folder: Path) -> dict[str, tuple[object, list[Row]]]:
    """Settings and rows of every cell, without what a clock says."""
    return {
        str(path.relative_to(folder)): (
            read_settings(path),
            [replace(row, seconds=Seconds()) for row in read_rows(path)],
        )
        for path in sorted((folder / "cells").rglob("*.parquet"))
    }


def test_the_same_cells_though_a_worker_was_lost(recipe: Recipe, tmp_path: Path) -> None:
    here = Recipe(replace(recipe.config, engine=EngineConfig()), recipe.methods)
    alone = evaluate(here, tmp_path / "alone")
    mark = tmp_path / "driver"
    mark.write_text(str(os.getpid()))
    steps: list[tuple[str, int, int]] = []

    def on_step(name: str, done: int, total: int, note: str = "") -> None:
        steps.append((name, done, total))

    run = EvaluateRun(recipe, datasets(), tmp_path / "ray")
    found: Evaluated = run.run(stages, partial(_load, mark), on_step)
    assert (tmp_path / "lost").exists()
    assert cells(tmp_path / "ray") == cells(tmp_path / "alone")
    assert (found.cells_made, found.cells_found) == (alone.cells_made, 0)
    assert [replace(row, seconds=Seconds()) for row in found.rows] == [
        replace(row, seconds=Seconds()) for row in alone.rows
    ]
    told = [(done, total) for name, done, total in steps if name == "answering on Ray"]
    assert told[-1] == (len(found.rows), len(found.rows))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert read_settings(tmp_path / "ray" / "rows.parquet") == read_settings(
        tmp_path / "alone" / "rows.parquet"
    )


def test_workers_with_other_models_are_refused(recipe: Recipe, tmp_path: Path) -> None:
    few = Recipe(recipe.config, recipe.methods[:1])
    run = EvaluateRun(few, datasets(), tmp_path / "ray")
    with pytest.raises(EnoughError, match=r"other models than the driver.*worker's"):
        run.run(stages, partial(_load_other, os.getpid()))
