"""`enough tune-encoder`: an encoder that has learnt which records help which requests."""

from __future__ import annotations

import functools
import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from enough.cli.terminal import progress_bars, require_apart

_USERS = "240"
_SEED = 1_000_033
"""Of the made-up people it learns from: nobody an adapter was tuned on, or a study is of."""


def tune_encoder(
    data: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders with logs or LaMP files; made-up users without any."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for the encoder.")],
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TASK=]N",
            help=f"Made-up users of every task, or of one (repeat), in place of data; {_USERS} "
            "by default.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score every record of every pool alone, and tune the encoder to find those that help.

    Wants many requests, and few tokens for each. Use it as `encoder = "FOLDER"` in a table
    `retrieval`, then label and train. Likelihoods are remembered: run it again as you like.
    """
    from enough.config import load_config
    from enough.data.folders import read_folder
    from enough.encoder_tuning.config import EncoderTuneConfig
    from enough.encoder_tuning.run import EncoderTuneRun
    from enough.errors import ConfigError
    from enough.tuning.people import described, made_up_people, made_up_users

    settings = load_config(config, EncoderTuneConfig) if config else EncoderTuneConfig()
    if data and users:
        raise ConfigError("--users: made-up people take the place of data; give one of both")
    if data:
        require_apart(out, data)
        run = EncoderTuneRun([read_folder(folder) for folder in data], settings, out)
    else:
        counts = made_up_users(users or [_USERS])
        people = made_up_people(counts, _SEED)
        run = EncoderTuneRun(people, settings, out, described(counts, _SEED))
    report = _tune(run)
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        _print_report(report, out)


def _tune(run: Any) -> dict[str, Any]:
    from enough.generators.loading import load_configured
    from enough.generators.score_cache import CachedGenerator
    from enough.retrieval.pools import build_stages

    started = time.monotonic()
    with progress_bars() as update:
        about: dict[str, Any] = run.run(
            functools.partial(build_stages, run.config.retrieval),
            lambda: CachedGenerator(load_configured(run.config.generator)),
            update,
        )
    return {**about, "this_run": {"seconds": time.monotonic() - started}}


def _print_report(report: dict[str, Any], out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title="The record most like the request, of users it was not tuned on",
        caption="gain: nats a reference token, over no record · any: of all records · best: known "
        "the reference · order: rank correlation of likeness and gain within a pool",
    )
    table.add_column("task")
    for column in ("n", "gain before", "after", "any", "best", "order before", "after"):
        table.add_column(column, justify="right")
    measured = report["measured"]
    for before, after in zip(measured["before"], measured["after"], strict=True):
        gains = [before["gain"], after["gain"], after["typical"], after["best"]]
        orders = [before["order"], after["order"]]
        cells = [f"{value:+.3f}" for value in (*gains, *orders)]
        table.add_row(before["task"], str(before["requests"]), *cells)
    console = Console(highlight=False)
    console.print(table)
    losses = " ".join(f"{loss:.3f}" for loss in report["loss"])
    console.print(
        f"Loss on these users before and after every epoch: {losses}. "
        f"{report['this_run']['seconds']:.0f} s. The encoder is in {out}.",
        soft_wrap=True,
    )
