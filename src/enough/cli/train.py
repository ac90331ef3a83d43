"""`enough train`: a controller from labels."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.terminal import narrow_table, progress_bars, require_apart
from enough.cli.train_baseline import train_baseline

if TYPE_CHECKING:
    from enough.controller.train_config import TrainConfig


_LABELS_AND_DATA = 2


def train(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Folder of `enough label`, then the folders that were labelled. With --method the "
            "data alone: those of the recipe, or made-up people, without any."
        ),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for the controller; goes on if it is begun.")],
    config: Annotated[
        Path | None,
        typer.Option(help="A TOML file of settings; with --method a recipe of `enough evaluate`."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="What to train: enough, or a baseline that learns, such as purple.")
    ] = "enough",
    beta: Annotated[float | None, typer.Option(help="β, weight of specificity.")] = None,
    lambda_: Annotated[
        float | None, typer.Option("--lambda", help="λ, price of 1024 tokens.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="Targets: crossfit, hindsight or myopic.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="For splits, weights, batches.")] = None,
    chooser: Annotated[
        Path | None,
        typer.Option(help="A controller that chooses the leaves of cross-fitted targets."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(help="Where the encoder of the labels lies, if not where it was."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Distil labels into a small controller that decides without a language model.

    Stop it and run it again as you like: it goes on where it was. Options go before the file.
    Baselines that learn are trained on the same users, pools and generator with --method.
    """
    from enough.config import load_config
    from enough.controller.train_config import TrainConfig
    from enough.controller.train_folder import TrainRun
    from enough.data.folders import read_folder
    from enough.errors import ConfigError

    if method != "enough":
        of_enough: dict[str, object] = {
            "beta": beta, "lambda": lambda_, "kind": kind, "chooser": chooser, "encoder": encoder
        }  # fmt: skip
        for name, value in of_enough.items():
            if value is not None:
                raise ConfigError(f"--{name} is for ENOUGH's controller, not for {method!r}")
        train_baseline(method, folders or [], out, config, seed or 0, as_json)
        return
    if not folders or len(folders) < _LABELS_AND_DATA:
        raise ConfigError("give the folder of `enough label`, then the folders that were labelled")
    labels, *data = folders
    settings = load_config(config, TrainConfig) if config else TrainConfig()
    given = {"kind": kind, "seed": seed, "chooser": chooser}
    settings = _with_options(settings, given, {"beta": beta, "lambda_": lambda_})
    require_apart(out, data)
    run = TrainRun(labels, [read_folder(folder) for folder in data], settings, out)
    found = _train(run, labels, encoder)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        _print(found, out)


def _with_options(
    settings: TrainConfig, given: dict[str, Any], point: dict[str, float | None]
) -> TrainConfig:
    """Options on the command line go before the file."""
    changes = {name: value for name, value in given.items() if value is not None}
    moved = {name: value for name, value in point.items() if value is not None}
    targets = dataclasses.replace(settings.targets, **moved)
    return dataclasses.replace(settings, targets=targets, **changes)


def _train(run: Any, labels: Path, encoder: str | None) -> dict[str, Any]:
    from enough.labels.encoder_of import encoder_of
    from enough.labels.folder import LabelFolder

    started = time.monotonic()
    was_there = run.is_finished
    with progress_bars() as update:
        found: dict[str, Any] = run.run(lambda: encoder_of(LabelFolder(labels), encoder), update)
    seconds = time.monotonic() - started
    return {**found, "this_run": {"seconds": seconds, "was_there": was_there}}


def _print(found: dict[str, Any], out: Path) -> None:
    from rich.console import Console

    table = narrow_table(
        title=f"{found['parameters']:,} weights, {found['kind']} targets, β {found['beta']:g}, "
        f"λ {found['lambda']:g}, T_s {found['stop_temperature']:.2f}",
        caption=f"{found['selection_requests']} requests of users not trained on, within their "
        "sampled trees · J: where the policy ends · prom.: what it promised · gap: promised less "
        "J · best: with the reference known · STOP: requests without a record",
    )
    table.add_column("task", overflow="ellipsis", no_wrap=True, max_width=16)
    for column in ["req.", "J", "prom.", "gap", "best", "gain", "tokens", "rec.", "harm", "STOP"]:
        table.add_column(column, justify="right", no_wrap=True, min_width=4)
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
    typer.echo(_stopping(found["stopping"]))
    if found["this_run"]["was_there"]:
        typer.echo(f"Done already: {out} was trained with these settings.")
    else:
        typer.echo(f"Controller written to {out} in {found['this_run']['seconds']:.0f} s.")


def _stopping(found: dict[str, Any]) -> str:
    """The stop head in a line; a measure that is not defined is a dash."""
    shown = {name: "–" if value is None else f"{value:.3f}" for name, value in found.items()}
    return (
        f"STOP at {found['states']:,} states: AUROC {shown['auroc']}, within tasks "
        f"{shown['auroc_within_tasks']}; calibration error {shown['ece_before']}, with the fitted "
        f"T_s {shown['ece']}; the teacher stops at {shown['teacher_stop_share']} of them, "
        f"probabilities say {shown['mean_probability']}."
    )
