"""A whole evaluation with stand-ins: seeds, groups, resumption, refusals."""

from __future__ import annotations

import logging
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from enough.errors import ConfigError, DataError
from enough.evaluation.evaluate_run import Evaluated
from enough.evaluation.questions import ask
from enough.evaluation.recipe import Recipe
from enough.evaluation.rows import Row, Seconds, read_rows
from enough.parquet_rows import read_settings
from enough.prompts.prompter import Prompter
from enough.protocols import Asked, Steered, Tokens
from enough.teacher.components import TargetConfig
from tests.evaluation.evaluate_fakes import (
    QUICK,
    TASKS,
    Broken,
    Interrupted,
    Stopping,
    Worded,
    config,
    datasets,
    evaluate,
    line,
    lines,
    saved_controller,
    stages,
)

ROOT = Path(__file__).parent.parent.parent
DRAWN = ("random", "ropg-kd")


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved_controller(tmp_path_factory.mktemp("controller"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def recipe(controller: Path) -> Recipe:
    return Recipe(config(), lines(controller))


@pytest.fixture(scope="module")
def finished(
    recipe: Recipe, cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Evaluated]:
    """Run once and never written to again."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENOUGH_CACHE", str(cache))
        return folder, evaluate(recipe, folder)


@pytest.fixture(autouse=True)
def remembered(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("ENOUGH_CACHE", str(cache))


@pytest.fixture
def copy(finished: tuple[Path, Evaluated], tmp_path: Path) -> Path:
    shutil.copytree(finished[0], tmp_path / "copy")
    return tmp_path / "copy"


def untimed(rows: Iterable[Row]) -> list[Row]:
    """Rows without what a clock says."""
    return [replace(row, seconds=Seconds()) for row in rows]


def cells(folder: Path) -> dict[str, bytes]:
    found = sorted((folder / "cells").rglob("*.parquet"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_one_run_or_one_for_every_seed(finished: tuple[Path, Evaluated], recipe: Recipe) -> None:
    folder, found = finished
    seeds: dict[str, set[int]] = {}
    for row in found.rows:
        seeds.setdefault(row.method, set()).add(row.seed)
    assert seeds == {one.name: {0, 1} if one.name in DRAWN else {0} for one in recipe.methods}
    assert found.cells_made == (len(recipe.methods) + len(DRAWN)) * len(TASKS)
    assert found.cells_found == 0
    assert len(found.rows) == 2 * found.cells_made  # two requests each
    trained = {path.name for path in (folder / "trained").iterdir()}
    assert trained == {"ropg-kd-0", "ropg-kd-1"}
    drawn = [row.records for row in found.rows if row.method == "random"]
    assert drawn[:2] != drawn[2:4]


def test_everybody_is_asked_the_same(finished: tuple[Path, Evaluated]) -> None:
    _, found = finished
    asked: dict[tuple[str, str, int], list[str]] = {}
    for row in found.rows:
        asked.setdefault((row.task, row.method, row.seed), []).append(row.request_id)
    for task in TASKS:
        assert len({tuple(ids) for of, ids in asked.items() if of[0] == task}) == 1
    learnt_from = {e.request.user for data in datasets() for e in data.splits["train"]}
    assert not learnt_from & {row.user for row in found.rows}


def test_rows_and_table_are_in_the_folder(finished: tuple[Path, Evaluated], recipe: Recipe) -> None:
    folder, found = finished
    assert read_rows(folder / "rows.parquet") == found.rows
    settings = read_settings(folder / "rows.parquet")
    assert settings["recipe"]["methods"][0] == {"name": "bm25", "kind": "bm25", "k": 2}
    assert settings["data"].keys() == set(TASKS)
    main, rest = (folder / "table.md").read_text().split("## Diagnostics")
    bounds = rest.split("## Oracles")[1]
    assert "| ENOUGH |" in main
    assert "oracle" not in main
    assert "best record" in bounds
    groups = {one.shown.name: one.shown.group for one in found.table.lines}
    assert groups["oracle-record"] == "oracle"
    assert {name for name, group in groups.items() if group == "main"} == {
        "bm25",
        "icr",
        "ic-ralm",
        "enough",
    }
    compared = {one.other for some in found.table.comparisons.values() for one in some}
    assert compared == groups.keys() - {"enough", "oracle-record"}
    assert len(found.table.lines) == len(recipe.methods)


def test_what_profiles_are_worth(finished: tuple[Path, Evaluated]) -> None:
    _, found = finished
    for row in found.rows:
        assert (row.net is None) == (row.method == "ic-ralm") == (not row.one_prompt)
        if row.method == "empty":
            assert (row.log_likelihood_gain, row.net) == (0, 0)
    best = {r.request_id: r.log_likelihood_gain for r in found.rows if r.method == "oracle-record"}
    assert all(gain is not None and gain >= 0 for gain in best.values())


def test_finished_cells_are_not_run_again(
    copy: Path, finished: tuple[Path, Evaluated], recipe: Recipe
) -> None:
    before = cells(copy)
    (copy / "rows.parquet").unlink()
    (copy / "table.md").unlink()
    again = evaluate(recipe, copy, Broken())
    assert (again.cells_made, again.cells_found) == (0, finished[1].cells_made)
    assert again.rows == finished[1].rows  # to the second
    assert cells(copy) == before
    for name in ("rows.parquet", "table.md"):
        assert (copy / name).read_bytes() == (finished[0] / name).read_bytes()


class Batches(Worded):
    """Knows how many prompts it was given at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.generated: list[int] = []
        self.together: list[int] = []

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        self.generated.append(len(prompts))
        return super().generate(prompts, max_new_tokens)

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        self.together.append(len(answers))
        return super().steer(answers, max_new_tokens)


def test_batched_answers_are_the_same_answers(
    finished: tuple[Path, Evaluated],
    recipe: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    generator = Batches()
    batched = Recipe(replace(recipe.config, batched=True), recipe.methods)
    found = evaluate(batched, tmp_path / "run", generator)
    assert untimed(found.rows) == untimed(finished[1].rows), "calls and tokens are counted as ever"
    assert max(generator.generated) > 1
    assert min(generator.together) > 1


def test_a_missing_cell_is_all_that_is_run(
    copy: Path, finished: tuple[Path, Evaluated], recipe: Recipe
) -> None:
    (copy / "cells" / "bm25" / "LaMP-7-0.parquet").unlink()
    again = evaluate(recipe, copy)
    assert (again.cells_made, again.cells_found) == (1, finished[1].cells_made - 1)
    assert untimed(again.rows) == untimed(finished[1].rows)


def test_a_new_method_is_added_to_a_finished_run(copy: Path, recipe: Recipe) -> None:
    more = replace(recipe, methods=(*recipe.methods, line("fixed", "fixed-1", k=1)))
    again = evaluate(more, copy)
    assert again.cells_made == len(TASKS)
    assert again.table.lines[-1].shown.title == "fixed-1"


@pytest.mark.parametrize("calls", [0, 3, 17])
def test_interrupted_anywhere_it_ends_with_the_same_rows(
    recipe: Recipe,
    finished: tuple[Path, Evaluated],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    calls: int,
) -> None:
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    with pytest.raises(Interrupted):
        evaluate(recipe, tmp_path / "run", Stopping(calls))
    kept = cells(tmp_path / "run")
    assert bool(kept) == (calls > 2)  # a cell has two requests
    assert not (tmp_path / "run" / "table.md").exists()
    again = evaluate(recipe, tmp_path / "run")
    assert again.cells_found == len(kept)
    assert again.cells_found + again.cells_made == finished[1].cells_made
    assert kept.items() <= cells(tmp_path / "run").items()
    assert untimed(again.rows) == untimed(finished[1].rows)


def test_killed_it_loses_no_finished_cell(
    recipe: Recipe,
    controller: Path,
    finished: tuple[Path, Evaluated],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "tests.evaluation.evaluate_fakes"]
    done = subprocess.run([*command, folder, controller, "9"], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    kept = cells(folder)
    assert len(kept) == 3  # bm25: two calls; icr: four; ic-ralm: two; enough: the ninth was one
    again = evaluate(recipe, folder)
    assert again.cells_found == len(kept)
    assert kept.items() <= cells(folder).items()
    assert untimed(again.rows) == untimed(finished[1].rows)


def test_other_settings_are_refused_by_name(copy: Path, recipe: Recipe) -> None:
    before = cells(copy)

    def refused(changed: Recipe, generator: Worded | None = None, seed: int = 0) -> str:
        with pytest.raises(ConfigError) as raised:
            evaluate(changed, copy, generator, datasets(seed))
        return str(raised.value)

    shared = refused(replace(recipe, config=config(requests=3)))
    assert "bm25" in shared
    assert "shared.requests (2, now 3)" in shared
    assert "--out" in shared
    renamed = Worded()
    renamed.fingerprint = "fake-2"
    untrained = replace(recipe, methods=recipe.methods[:3])
    assert "shared.generator ('fake-1', now 'fake-2')" in refused(untrained, renamed)
    assert "another setting of data" in refused(untrained, seed=1)
    other = replace(recipe, methods=(line("bm25", k=3), *recipe.methods[1:]))
    assert "method.k (2, now 3)" in refused(other)
    trained = line("ropg-kd", k=2, temperature=2.0, fit=QUICK)
    retrained = refused(replace(recipe, methods=(trained,)))
    assert "ropg-kd-0: was trained with another setting of settings.temperature" in retrained
    assert cells(copy) == before


@pytest.mark.parametrize("file", ["controller.safetensors", "controller.json"])
def test_other_weights_and_prices_are_refused(file: str, tmp_path: Path) -> None:
    folder = saved_controller(tmp_path / "controller")
    recipe = Recipe(config(seeds=(0,)), (line("enough", controller=str(folder)),))
    evaluate(recipe, tmp_path / "run")
    with (folder / file).open("ab") as changed:
        changed.write(b" ")
    with pytest.raises(ConfigError, match=r"enough/LaMP-4-0\.parquet: .* setting of trained \("):
        evaluate(recipe, tmp_path / "run")


def test_the_price_may_change_and_only_j_does(
    copy: Path, finished: tuple[Path, Evaluated], recipe: Recipe
) -> None:
    dear = replace(recipe, config=config(targets=TargetConfig(0.4, 5.0)))
    again = evaluate(dear, copy, Broken())
    assert again.cells_made == 0
    for before, after in zip(finished[1].rows, again.rows, strict=True):
        assert replace(after, net=before.net) == before
        if before.net is not None and before.profile_tokens:
            assert after.net == pytest.approx(before.net - 4.9 * before.profile_tokens / 1024)


def test_without_enough_there_is_no_j(tmp_path: Path) -> None:
    found = evaluate(Recipe(config(seeds=(0,)), (line("bm25", k=2), line("empty"))), tmp_path)
    assert all(row.net is None for row in found.rows)
    assert all(row.log_likelihood_gain is not None for row in found.rows)
    assert found.table.champion is None
    assert (found.table.runs, found.cells_made) == (1, 4)


def test_a_folder_that_was_trained_elsewhere(
    finished: tuple[Path, Evaluated], tmp_path: Path
) -> None:
    elsewhere = finished[0] / "trained" / "ropg-kd-1"
    given = replace(line("ropg-kd", k=2, fit=QUICK), folder=elsewhere)
    found = evaluate(Recipe(config(), (given,)), tmp_path)
    assert {row.seed for row in found.rows} == {0}
    assert not (tmp_path / "trained").exists()
    there = [row for row in finished[1].rows if (row.method, row.seed) == ("ropg-kd", 1)]
    assert [row.records for row in found.rows] == [row.records for row in there]


def test_a_folder_for_every_seed(
    finished: tuple[Path, Evaluated], controller: Path, tmp_path: Path
) -> None:
    elsewhere = finished[0] / "trained" / "ropg-kd-{seed}"
    given = replace(line("ropg-kd", k=2, fit=QUICK), folder=elsewhere)
    shutil.copytree(controller, tmp_path / "c-0")
    shutil.copytree(controller, tmp_path / "c-1")
    ours = replace(line("enough"), folder=tmp_path / "c-{seed}")
    found = evaluate(Recipe(config(), (given, ours)), tmp_path / "run")
    assert not (tmp_path / "run" / "trained").exists()
    assert not (tmp_path / "run" / "controllers").exists()
    for seed in (0, 1):
        of_run = [row for row in finished[1].rows if (row.method, row.seed) == ("ropg-kd", seed)]
        here = [row for row in found.rows if (row.method, row.seed) == ("ropg-kd", seed)]
        assert [row.records for row in here] == [row.records for row in of_run]
    before = [row.net for row in finished[1].rows if row.method == "enough"]
    assert [row.net for row in found.rows if (row.method, row.seed) == ("enough", 1)] == before


def test_what_cannot_be_evaluated(tmp_path: Path) -> None:
    bm25 = (line("bm25"),)
    with pytest.raises(DataError, match="no split 'test'"):
        evaluate(Recipe(config(split="test"), bm25), tmp_path / "a")
    nobody = [replace(data, splits={**data.splits, "dev": ()}) for data in datasets()]
    with pytest.raises(DataError, match="LaMP-4: there is no request in 'report'"):
        evaluate(Recipe(config(), bm25), tmp_path / "b", data=nobody)
    unlearnt = [replace(data, splits={**data.splits, "train": ()}) for data in datasets()]
    learning = (line("ropg-kd", fit=QUICK),)
    with pytest.raises(DataError, match="nobody is in the slice 'label'"):
        evaluate(Recipe(config(), learning), tmp_path / "c", data=unlearnt)
    assert not list((tmp_path / "c").rglob("*.safetensors"))
    (tmp_path / "d" / "trained" / "ropg-kd-0").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"ropg-kd-0: is there, but no trained method"):
        evaluate(Recipe(config(), learning), tmp_path / "d")


def test_questions_have_legal_records_and_a_pool_of_the_best(
    caplog: pytest.LogCaptureFixture,
) -> None:
    (dataset, _), parts = datasets(), stages(pool=3)
    examples = dataset.splits["dev"]
    prompter = Prompter(Worded().tokenizer)
    found = ask(dataset, examples, parts, prompter, window=4096, max_records=2)
    assert [one.example for one in found] == list(examples)
    for one in found:
        asked: Asked = one.asked
        assert set(asked.history) < set(dataset.history(asked.request))  # the target is not there
        assert {c.record for c in one.ranked} == set(asked.history)
        assert asked.pool == one.ranked[:3]
        assert asked.budget.max_records == 2
        assert one.retrieval_seconds > 0
    empty = [len(prompter.prompt(example.request).tokens) for example in examples]
    window = sorted(empty)[-2] + dataset.task.max_answer_tokens
    with caplog.at_level(logging.WARNING):
        short = ask(dataset, examples, parts, prompter, window=window, max_records=2)
    assert len(short) == sum(length <= sorted(empty)[-2] for length in empty)
    assert "left out: request" in caplog.text
