"""`enough aggregate`: a second round of labels, at the states a controller comes through."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enough.cli.engine import Engine, Workers, with_engine
from enough.cli.label import label_with_progress, print_report
from enough.cli.terminal import progress_bars, require_apart

if TYPE_CHECKING:
    from enough.controller.walks import Walks
    from enough.progress import OnStep
    from enough.records import Dataset


class Walk(StrEnum):
    """Who chose the states that are labelled."""

    CONTROLLER = "controller"
    OUT_OF_FOLD = "out-of-fold"
    RETRIEVER = "retriever"


def aggregate(
    labels: Annotated[Path, typer.Argument(help="Folder of the first `enough label`.")],
    controller: Annotated[
        Path,
        typer.Argument(
            help="Folder of `enough train` on these labels, or a bundled one's name: with "
            "`--walk retriever` its choices are not asked for, only its β and λ."
        ),
    ],
    data: Annotated[list[Path], typer.Argument(help="The folders that were labelled.")],
    out: Annotated[Path, typer.Option(help="Folder for the labels of both rounds.")],
    at_least: Annotated[
        int,
        typer.Option(
            min=0, help="Walk on to so many records where the controller would stop before."
        ),
    ] = 0,
    walk: Annotated[
        list[Walk],
        typer.Option(
            help="Whose states: the controller's; those of the models of its training that never "
            "saw a request's user, to the horizon; the retriever's first ones."
        ),
    ] = [Walk.CONTROLLER],  # noqa: B006 (Typer copies it)
    levels: Annotated[
        int, typer.Option(min=0, help="Levels searched below visited states; 0: to the horizon.")
    ] = 0,
    actions: Annotated[
        int, typer.Option(min=0, help="Records tried at each visited state; 0: all.")
    ] = 0,
    workers: Workers = None,
    engine: Engine = None,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file; of it only the table `engine` counts.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Label the states that the controller visits with the same teacher, beside those of LABELS.

    Nothing that LABELS has is scored again. Then `enough train OUT DATA` trains on the union.
    """
    from enough.config import load_config
    from enough.controller.bundled import locate_controller
    from enough.controller.checkpoint import load_controller
    from enough.controller.visiting import states_along
    from enough.data.folders import read_folder
    from enough.fleet.config import EngineConfig
    from enough.labels.config import LabelConfig
    from enough.labels.folder import LabelFolder
    from enough.labels.run import LabelRun
    from enough.labels.visits import Visits

    settings = LabelConfig.of_folder(LabelFolder(labels))
    given = load_config(config, LabelConfig).engine if config else EngineConfig()
    chosen = with_engine(given, engine, workers)
    require_apart(out, data)
    datasets = [read_folder(folder) for folder in data]
    controller = locate_controller(controller)
    point = load_controller(controller).point
    with progress_bars() as update:
        walked = _walked(labels, controller, datasets, at_least, update)
        states = states_along([walked[one]() for one in dict.fromkeys(walk)])
    visits = Visits(labels, states, levels, actions)
    settings = dataclasses.replace(settings, engine=chosen, targets=point)
    report = label_with_progress(LabelRun(datasets, settings, out, visits))
    report["visited_states"] = sum(map(len, visits.profiles.values()))
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        typer.echo(f"{report['visited_states']:,} states visited")
        print_report(report)


def _walked(
    labels: Path,
    controller: Path,
    datasets: Sequence[Dataset],
    at_least: int,
    on_step: OnStep,
) -> dict[Walk, Callable[[], Walks]]:
    """How each kind of walk is made; the retriever's needs neither encoder nor features."""
    from enough.controller.checkpoint import load_controller
    from enough.controller.labelled_folder import read_labelled
    from enough.controller.visiting import controller_walks
    from enough.controller.walks import read_walks, retriever_walks
    from enough.labels.encoder_of import encoder_of
    from enough.labels.folder import LabelFolder

    trees = [tree.of for part in LabelFolder(labels).read() for tree in part.trees]

    def along_controller() -> Walks:
        encoder = encoder_of(LabelFolder(labels))
        trained = load_controller(controller, encoder=encoder.fingerprint)
        labelled = read_labelled(labels, datasets, encoder, on_step)
        return controller_walks(trained, labelled.requests, at_least)

    return {
        Walk.CONTROLLER: along_controller,
        Walk.OUT_OF_FOLD: lambda: read_walks(controller, [of.name for of in trees]),
        Walk.RETRIEVER: lambda: retriever_walks(trees),
    }
