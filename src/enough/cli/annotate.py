"""`enough annotate`: blind pairs for annotators as one page, and verdicts from their files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.terminal import progress_bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enough.annotation.agreement import Verdict
    from enough.annotation.judgements import AnnotatorFile
    from enough.annotation.key import Key
    from enough.annotation.pairs import PairConfig
    from enough.evaluation.intervals import Interval

annotate_app = typer.Typer(
    help="Have people judge pairs of answers, without knowing whose they are.",
    no_args_is_help=True,
)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_WIDTH = 120


@annotate_app.command()
def export(
    rows: Annotated[Path, typer.Argument(help="The rows.parquet of `enough evaluate`.")],
    data: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of the rows' data; those of their recipe without any."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for page.html and key.json.")],
    method: Annotated[
        str | None, typer.Option(help="Whose wins are counted (enough by default).")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="The other method (purple by default).")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Only this task; repeat. All of the rows by default.")
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(min=1, help="At most so many per task (200 by default).")
    ] = None,
    history: Annotated[
        int | None, typer.Option(min=0, help="Records shown of each user (20 by default).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For requests, sides and order (0 by default).")
    ] = None,
    run: Annotated[
        int | None, typer.Option(min=0, help="The seed of the rows to take (0 by default).")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file of these settings; options win.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a page with pairs of answers to judge, and the key that tells whose they are.

    Give page.html to annotators and keep key.json to yourself.
    """
    from enough.annotation.export import KEY, PAGE, export_pairs
    from enough.annotation.pairs import PairConfig, draw_pairs
    from enough.annotation.sources import controls_behind, datasets_behind
    from enough.config import load_config
    from enough.evaluation.rows import read_rows

    settings = _changed(
        load_config(config, PairConfig) if config else PairConfig(),
        method=method,
        against=against,
        tasks=tuple(task) if task else None,
        pairs=pairs,
        history=history,
        seed=seed,
        run=run,
    )
    with progress_bars() as update:
        found = read_rows(rows)
        datasets = datasets_behind(rows, data or (), settings.tasks)
        drawn = draw_pairs(found, datasets, controls_behind(rows), settings, update)
        key = export_pairs(drawn, out)
    if as_json:
        typer.echo(json.dumps(_exported(key, out), indent=2))
        return
    for name, counted in key.counts.items():
        typer.echo(
            f"{name}: {counted.drawn} pairs of {counted.requests} requests; "
            f"{counted.identical} were answered alike and left out"
        )
    typer.echo(f"For annotators: {out / PAGE}")
    typer.echo(f"For you alone:  {out / KEY}")


@annotate_app.command()
def score(
    key: Annotated[Path, typer.Argument(help="The key.json of the export, or its folder.")],
    files: Annotated[list[Path], typer.Argument(help="What annotators saved, one file for each.")],
    as_json: Json = False,
) -> None:
    """Win, tie and loss per task and criterion, and how far annotators agree (Fleiss' κ)."""
    from enough.annotation.agreement import verdicts
    from enough.annotation.judgements import read_judgements
    from enough.annotation.key import read_key

    known = read_key(key)
    read = read_judgements(files, known)
    found = verdicts(read, known)
    if as_json:
        typer.echo(json.dumps(_scored(known, read, found), indent=2))
        return
    print_verdicts(known, read, found)


def _changed(config: PairConfig, **options: object) -> PairConfig:
    """Options that were given win over the file."""
    given = {name: value for name, value in options.items() if value is not None}
    return dataclasses.replace(config, **given)  # type: ignore[arg-type]


def _exported(key: Key, out: Path) -> dict[str, Any]:
    return {
        "folder": str(out),
        "page": key.page,
        "pairs": len(key.lines),
        "tasks": {task: dataclasses.asdict(counted) for task, counted in key.counts.items()},
    }


def _scored(key: Key, files: Sequence[AnnotatorFile], found: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "method": key.config.method,
        "against": key.config.against,
        "pairs": len(key.lines),
        "tasks": {task: dataclasses.asdict(counted) for task, counted in key.counts.items()},
        "annotators": [
            {
                "annotator": file.annotator,
                "file": str(file.path),
                "judgements": len(file.judgements),
                "finished": file.finished,
                "seconds": file.seconds,
            }
            for file in files
        ],
        "verdicts": [dataclasses.asdict(verdict) for verdict in found],
    }


def print_verdicts(key: Key, files: Sequence[AnnotatorFile], found: Sequence[Verdict]) -> None:
    """A table for people, and who has judged how much."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:  # a file or a pipe has no width of its own
        console = Console(highlight=False, width=_WIDTH)
    table = Table(
        title=f"{key.config.method} against {key.config.against}",
        caption="shares of judgements, with 95% intervals over users · κ: Fleiss' agreement on the "
        "pairs that all annotators judged · alike: requests both answered alike, in no share",
        pad_edge=False,
        box=None,
        padding=(0, 2, 0, 0),
    )
    for column in ("task", "criterion"):
        table.add_column(column, no_wrap=True)
    for column in ("win", "tie", "loss", "pairs", "judged", "κ", "by all", "alike"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in found:
        kappa = one.agreement.kappa
        table.add_row(
            one.task,
            one.criterion,
            *(_share(value) for value in (one.win, one.tie, one.loss)),
            str(one.pairs),
            str(one.judgements),
            "–" if kappa is None else f"{kappa:.2f}",
            str(one.agreement.items),
            str(one.identical),
        )
    console.print(table)
    for file in files:
        console.print(
            f"{file.annotator}: {file.finished} of {len(key.lines)} pairs finished, "
            f"{file.seconds / 60:.0f} min",
            markup=False,
        )


def _share(value: Interval) -> str:
    return f"{value.mean:.1%} ({value.low:.0%}–{value.high:.0%})"
