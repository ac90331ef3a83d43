"""`enough train`: a controller from labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from enough.cli.terminal import progress_bars


def train(
    labels: Annotated[Path, typer.Argument(help="Folder of `enough label`.")],
    data: Annotated[list[Path], typer.Argument(help="The folders that were labelled.")],
    out: Annotated[Path, typer.Option(help="Folder for the controller.")],
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Distil labels into a small controller that decides without a language model."""
    from enough.config import load_config
    from enough.controller.checkpoint import save_controller
    from enough.controller.labelled_folder import read_labelled
    from enough.controller.train_run import TrainConfig, summary
    from enough.controller.train_run import train as fit_controller
    from enough.data.folders import read_folder
    from enough.retrieval.embedding_cache import CachedEncoder
    from enough.retrieval.encoders import load_encoder

    settings = load_config(config, TrainConfig) if config else TrainConfig()
    datasets = [read_folder(folder) for folder in data]
    with progress_bars() as update:
        encoder = CachedEncoder(load_encoder())
        labelled = read_labelled(labels, datasets, encoder, update)
        trained = fit_controller(labelled, settings, update)
    save_controller(out, trained)
    found = summary(trained)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        _print(found, out)


def _print(found: dict[str, Any], out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"{found['parameters']:,} weights, {found['kind']} targets, β {found['beta']:g}, "
        f"λ {found['lambda']:g}, T_s {found['stop_temperature']:.2f}",
        pad_edge=False,
        caption=f"{found['selection_requests']} requests of users not trained on, within their "
        "sampled trees · J: where the policy ends · promised: what it expected · best: with the "
        "reference known",
    )
    table.add_column("task", no_wrap=True)
    columns = "requests,J,promised,gap,best,gain,tokens,records,harm,root STOP"
    for column in columns.split(","):
        table.add_column(column, justify="right")
    for line in found["selection"]:
        table.add_row(
            line["task"],
            str(line["requests"]),
            *(f"{line[name]:+.3f}" for name in ("net", "promised", "gap", "best", "gain")),
            f"{line['tokens']:.0f}",
            f"{line['records']:.1f}",
            f"{line['harm']:.0%}",
            f"{line['root_stop']:.0%}",
        )
    Console().print(table)
    typer.echo(f"Controller written to {out}.")
