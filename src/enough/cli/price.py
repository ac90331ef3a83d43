"""`enough price`: a controller for another price or habit, without training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enough.cli.terminal import progress_bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enough.controller.checkpoint import Trained


def price(
    controller: Annotated[
        Path, typer.Argument(help="Folder of `enough train`, or a bundled one's name.")
    ],
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Its labels, then the folders that were labelled: the probability of stopping is "
            "fitted anew. Without them it stays that of the training."
        ),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for the new one; must not be there.")],
    lambda_: Annotated[
        float | None, typer.Option("--lambda", min=0, help="λ, price of 1024 tokens.")
    ] = None,
    trust: Annotated[
        float | None,
        typer.Option(help="Weight of a request's own values against the average request's."),
    ] = None,
    lead: Annotated[
        float | None,
        typer.Option(help="What a record out of the retriever's order must be worth more."),
    ] = None,
    aversion: Annotated[
        float | None, typer.Option(help="How much more than gains losses count on average.")
    ] = None,
    others: Annotated[
        bool,
        typer.Option(
            "--others",
            help="The labels are of users it was not trained on: all of them count. Without it "
            "they are those of its training, and its selection part counts.",
        ),
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(help="Where the encoder of the labels lies, if not where it was."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a copy of CONTROLLER that weighs the same values anew. What is not named stays.

    Approximate for a λ far from the one it was trained for: then `enough train --lambda`.
    """
    from enough.bundled_models import new_folder
    from enough.controller.bundled import locate_controller
    from enough.controller.checkpoint import load_controller, save_controller
    from enough.controller.pricing import priced
    from enough.errors import ConfigError

    if out.exists():
        raise ConfigError(f"{out}: is there already; name another folder")
    if others and not folders:
        raise ConfigError("--others is about labels; name them and the folders that were labelled")
    found = load_controller(locate_controller(controller))
    made = priced(found, lambda_=lambda_, trust=trust, lead=lead, aversion=aversion)
    if folders:
        made = _recalibrated(made, folders[0], folders[1:], encoder, others=others)
    with new_folder(out) as folder:
        save_controller(folder, made)
        folder.chmod(0o755)  # temporary folders are closed to others
    habit = made.habit.config
    if as_json:
        shown = {"trust": habit.trust, "lead": habit.lead, "aversion": habit.aversion}
        typer.echo(json.dumps({"folder": str(out), "lambda": made.point.lambda_, **shown}))
        return
    typer.echo(
        f"{out}: λ {made.point.lambda_:g} (trained for {made.trained_for:g}), "
        f"trust {habit.trust:g}, lead {habit.lead:g}, aversion {habit.aversion:g}"
    )
    if not folders:
        typer.echo(
            "Its probabilities of stopping are still fitted to the former values (decisions do not "
            "use them); name labels and their logs to fit them anew.",
            err=True,
        )


def _recalibrated(
    trained: Trained, labels: Path, data: Sequence[Path], elsewhere: str | None, *, others: bool
) -> Trained:
    from enough.controller.labelled_folder import read_labelled
    from enough.controller.train_run import recalibrated, recalibrated_on_others
    from enough.data.folders import read_folder
    from enough.errors import ConfigError
    from enough.labels.encoder_of import encoder_of
    from enough.labels.folder import LabelFolder

    if not data:
        raise ConfigError("after the labels name the folders that were labelled")
    with progress_bars() as update:
        datasets = [read_folder(one) for one in data]
        encoder = encoder_of(LabelFolder(labels), elsewhere)
        scales = dict(trained.scales) if others else None
        found = read_labelled(labels, datasets, encoder, update, scales=scales)
        return recalibrated_on_others(trained, found) if others else recalibrated(trained, found)
