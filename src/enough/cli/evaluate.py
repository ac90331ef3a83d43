"""`enough evaluate`: methods × tasks × seeds from one recipe, and the main table."""

from __future__ import annotations

import dataclasses
import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.engine import Engine, Workers, with_engine
from enough.cli.terminal import check_writable, progress_bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enough.evaluation.evaluate_run import Evaluated, EvaluateRun
    from enough.tasks import Task


_WIDTH = 160


def evaluate(
    config: Annotated[Path, typer.Option(help="A recipe: a TOML file with tables `methods`.")],
    data: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders with logs or LaMP files; those of the recipe without any."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the run; goes on there.", show_default="runs/NAME OF THE RECIPE"
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="Write predictions in LaMP's leaderboard format into this folder."),
    ] = None,
    publish: Annotated[
        Path | None,
        typer.Option(
            help="Also write rows without texts, ids hashed, for `enough results` (Parquet)."
        ),
    ] = None,
    workers: Workers = None,
    engine: Engine = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run every method of a recipe on every task, and print the main table.

    Stop it and run it again as you like: finished cells stay. Rows are in OUT/rows.parquet.
    """
    from enough.data.folders import datasets_of
    from enough.evaluation.evaluate_run import EvaluateRun
    from enough.evaluation.recipe import load_recipe
    from enough.generators.loading import load_open
    from enough.teacher.preparation import load_stages

    check_writable(publish)
    recipe = load_recipe(config)
    settings = dataclasses.replace(
        recipe.config,
        data=tuple(data) if data else recipe.config.data,
        engine=with_engine(recipe.config.engine, engine, workers),
    )
    recipe = dataclasses.replace(recipe, config=settings)
    folder = out or Path("runs") / config.stem
    datasets = datasets_of(recipe.config.data, recipe.config.world)
    run = EvaluateRun(recipe, datasets, folder)
    with progress_bars() as update:
        found = run.run(
            functools.partial(load_stages, recipe.config.retrieval, recipe.config.matching),
            load_open,
            update,
        )
    written = _export(found, export) if export else []
    if publish is not None:
        _publish(publish, run, found, [one.task for one in datasets])
    if as_json:
        typer.echo(json.dumps({**_report(found, folder), "exported": written}, indent=2))
        return
    from rich.console import Console

    from enough.evaluation.table_text import for_terminal

    console = Console(highlight=False)
    if not console.is_terminal:  # a file or a pipe has no width of its own
        console = Console(highlight=False, width=_WIDTH)
    console.print(for_terminal(found.table))
    console.print(
        f"{found.cells_made} cells run, {found.cells_found} were there. Rows: "
        f"{folder / 'rows.parquet'}; table: {folder / 'table.md'}.",
        soft_wrap=True,
        markup=False,
    )
    for path in written:
        console.print(f"Predictions: {path}", soft_wrap=True, markup=False)


def _report(found: Evaluated, folder: Path) -> dict[str, Any]:
    from enough.evaluation.table_plain import as_plain

    return {
        "folder": str(folder),
        "cells_made": found.cells_made,
        "cells_found": found.cells_found,
        "rows": len(found.rows),
        **as_plain(found.table),
    }


def _publish(path: Path, run: EvaluateRun, found: Evaluated, tasks: Sequence[Task]) -> None:
    from enough.evaluation.published_rows import PublishedRow, about_answers, publish_rows
    from enough.parquet_rows import write_parquet

    about = about_answers(run.recipe, tasks, found.table, run.digests)
    write_parquet(path, PublishedRow, publish_rows(found.rows, tasks), about)


def _export(found: Evaluated, folder: Path) -> list[str]:
    """One folder per method and run."""
    from enough.evaluation.leaderboard import write_predictions

    written = []
    for method, seed in dict.fromkeys((row.method, row.seed) for row in found.rows):
        rows = [row for row in found.rows if (row.method, row.seed) == (method, seed)]
        asked: dict[str, list[str]] = {}
        for row in rows:
            asked.setdefault(row.task, []).append(row.request_id)
        paths = write_predictions(folder / f"{method}-{seed}", rows, asked)
        written += [str(path) for path in paths]
    return written
