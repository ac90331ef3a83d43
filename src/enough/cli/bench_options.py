"""What commands of `enough bench` share: options, people to measure on, how it is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from enough.records import Dataset

Data = Annotated[
    Path | None, typer.Argument(help="Folder with a real log; the made-up world without one.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def dataset_or_made_up(data: Path | None) -> Dataset:
    """A folder of logs, or one task of the made-up world."""
    from enough.data.folders import read_folder
    from enough.data.synthetic import WorldConfig, make_world

    if data is None:
        return make_world(WorldConfig(tasks=("LaMP-4",))).datasets["LaMP-4"]
    return read_folder(data)


def show_measured(measured: dict[str, Any], as_json: bool) -> None:
    """A name and a value on every line, or JSON."""
    if as_json:
        typer.echo(json.dumps(measured, indent=2))
        return
    for key, value in measured.items():
        shown = f"{value:,.4g}" if isinstance(value, float) else value
        typer.echo(f"{key:>29}  {shown}")
