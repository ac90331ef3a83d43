"""`enough results`: a page of results and its figures, from published rows."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

_PAGE = Path("docs/results.md")


def results(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Rows of `enough compare --publish`, of `enough evaluate --publish`, or both."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="The page; figures go into figures/ beside it.")
    ] = _PAGE,
    lambda_: Annotated[
        float | None,
        typer.Option(
            "--lambda",
            help="The λ that is looked at closely.",
            show_default="that of the answers, or the lowest there is",
        ),
    ] = None,
    machine: Annotated[str, typer.Option(help="What it ran on, in words.")] = "",
    note: Annotated[
        str, typer.Option(help="What else a reader must know about what was run.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write results as Markdown with figures, every number computed from rows.

    No model and no data are needed; the same rows make the same files.
    """
    from enough.results.page import results_of, write_results
    from enough.results.sources import read_sources

    # Where files lie on this machine is nobody's business.
    named = [path.name if path.is_absolute() else str(path) for path in [*files, out]]
    price = "" if lambda_ is None else f"{lambda_:g}"
    said = {"--out": named[-1], "--lambda": price, "--machine": machine, "--note": note}
    options = [part for option, value in said.items() if value for part in (option, value)]
    command = shlex.join(["enough", "results", *named[:-1], *options])
    made = results_of(
        read_sources(files), lambda_=lambda_, machine=machine, note=note, command=command
    )
    written = write_results(out, made)
    if as_json:
        page, *drawings = map(str, written)
        typer.echo(json.dumps({"page": page, "figures": drawings}, indent=2))
        return
    for path in written:
        typer.echo(str(path))
