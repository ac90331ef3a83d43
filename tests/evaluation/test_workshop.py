"""ENOUGH trained inside an evaluation: labels, a second round, a controller for every seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from enough.config import from_table
from enough.controller.checkpoint import load_controller
from enough.controller.train_config import TrainConfig
from enough.evaluation.recipe import Recipe
from enough.generators.config import GeneratorConfig
from enough.generators.fake import FakeGenerator
from enough.labels.workers import Processes
from enough.run_folders import read_json
from enough.teacher.proposals import SearchConfig
from tests.evaluation.evaluate_fakes import Broken, config, datasets, evaluate, line

TRAIN = {
    "folds": 3,
    "model": {"hidden": 16, "heads": 2},
    "fit": {"steps": 4, "requests": 4, "check_every": 2},
}


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[GeneratorConfig]:
    """Every generator that was loaded for labels."""
    loaded: list[GeneratorConfig] = []

    def load(settings: GeneratorConfig, threads: int) -> FakeGenerator:
        loaded.append(settings)
        return FakeGenerator()

    monkeypatch.setattr("enough.evaluation.workshop.load_generator", load)
    monkeypatch.setattr("enough.evaluation.workshop.load_fleet", lambda _: Processes(1))
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    return loaded


def settings(**changes: Any) -> Any:
    return config(
        lessons=0,
        requests=1,
        search=SearchConfig(max_records=2, actions=2, width=1),
        train=from_table(TRAIN, TrainConfig, "test"),
        **changes,
    )


def test_two_rounds_and_a_controller_for_every_seed(
    tmp_path: Path, models: list[GeneratorConfig]
) -> None:
    methods = (
        line("enough"),
        line("enough", "forced", forced_length=1),
        line("enough", "myopic", targets="myopic"),
    )
    recipe = Recipe(settings(), methods)
    data = datasets()[:1]
    folder = tmp_path / "run"
    found = evaluate(recipe, folder, data=data)
    trained = {path.name for path in (folder / "controllers").iterdir()}
    kinds = {f"{kind}-{seed}" for kind in ("crossfit", "myopic") for seed in (0, 1)}
    assert trained == {"warm", *kinds}, "lines with the same targets share controllers"
    first, second = (read_json(folder / name / "manifest.json") for name in ("labels", "labels-2"))
    assert first["requests"] == second["requests"]
    assert first["calibration"] == second["calibration"]
    reports = {name: load_controller(folder / "controllers" / name).report for name in kinds}
    assert {name: (one["kind"], one["seed"]) for name, one in reports.items()} == {
        f"{kind}-{seed}": (kind, seed) for kind in ("crossfit", "myopic") for seed in (0, 1)
    }
    assert {(row.method, row.seed) for row in found.rows} == {
        (one.name, seed) for one in methods for seed in (0, 1)
    }
    assert all(len(row.records) == 1 for row in found.rows if row.method == "forced")
    assert all(row.net is not None for row in found.rows), "J is in units of the labels' scales"

    models.clear()
    again = evaluate(recipe, folder, Broken(), data)
    assert (again.cells_made, again.rows) == (0, found.rows)
    assert models == []


def test_one_round(tmp_path: Path) -> None:
    recipe = Recipe(settings(rounds=1, seeds=(3,)), (line("enough"),))
    found = evaluate(recipe, tmp_path / "run", data=datasets()[:1])
    assert not (tmp_path / "run" / "labels-2").exists()
    assert {path.name for path in (tmp_path / "run" / "controllers").iterdir()} == {"crossfit-3"}
    assert {row.seed for row in found.rows} == {3}
