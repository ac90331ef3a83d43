"""`enough tune`: a small adapter that makes a frozen generator fit for personalisation."""

from __future__ import annotations

import functools
import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from enough.cli.terminal import progress_bars, require_apart

_USERS = "240"


def tune(
    data: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders with logs or LaMP files; made-up users without any."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for the adapter; goes on if it is begun.")],
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TASK=]N",
            help=f"Made-up users of every task, or of one (repeat), beside the data; without data "
            f"{_USERS}.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit a LoRA adapter on requests with profiles of random size, and say what it did.

    Afterwards a user's own records should still help and other people's should not. Stop it and run
    it again as you like. Use the adapter as `adapter = "FOLDER"` in a table `generator`.
    """
    from enough.config import load_config
    from enough.data.folders import read_folder
    from enough.tuning.config import TuneConfig
    from enough.tuning.people import (
        FURTHER_SEED,
        TUNING_SEED,
        described,
        made_up_people,
        made_up_users,
    )
    from enough.tuning.run import TuneRun

    settings = load_config(config, TuneConfig) if config else TuneConfig()
    counts = made_up_users(users or ([] if data else [_USERS]))
    seed = TUNING_SEED if settings.start is None else FURTHER_SEED
    people, made_up = made_up_people(counts, seed), described(counts, seed)
    if data:
        source = f"own logs and {made_up}" if people else "own logs"
        require_apart(out, data)
        datasets = [read_folder(folder) for folder in data]
        run = TuneRun(datasets, settings, out, source, beside=people)
    else:
        run = TuneRun(people, settings, out, made_up)
    report = _tune(run)
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        _print_report(report, out)


def _tune(run: Any) -> dict[str, Any]:
    from enough.retrieval.pools import build_stages
    from enough.tuning.run import load_for_tuning

    started = time.monotonic()
    with progress_bars() as update:
        about: dict[str, Any] = run.run(
            functools.partial(build_stages, run.config.retrieval),
            functools.partial(load_for_tuning, run.config.generator),
            update,
        )
    return {**about, "this_run": {"seconds": time.monotonic() - started}}


def _print_report(report: dict[str, Any], out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title="Users it was not tuned on",
        caption="nll: of a reference token, no records · own, others: how much the user's first "
        "records, and as many of other users, lower it",
    )
    table.add_column("task")
    for column in ("n", "nll before", "own", "others", "nll after", "own", "others"):
        table.add_column(column, justify="right")
    measured = report["measured"]
    for before, after in zip(measured["before"], measured["after"], strict=True):
        cells = [cell for row in (before, after) for cell in _cells(row)]
        table.add_row(before["task"], str(before["requests"]), *cells)
    console = Console(highlight=False)
    console.print(table)
    console.print(
        f"{report['steps']:,} steps, loss {report['loss']['first_tenth']:.3f} to "
        f"{report['loss']['last_tenth']:.3f}, {report['weights']:,} weights, "
        f"{report['this_run']['seconds']:.0f} s. The adapter is in {out}.",
        soft_wrap=True,
    )


def _cells(row: dict[str, Any]) -> list[str]:
    gains = [f"{row['empty'] - row[name]:+.3f}" for name in ("own", "others")]
    return [f"{row['empty']:.3f}", *gains]
