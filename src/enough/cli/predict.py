"""`enough predict`: answers to all requests of a split, with or without references."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.select import Controller, TaskName, Untrained
from enough.cli.terminal import progress_bars, require_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enough.evaluation.predictions import Prediction
    from enough.online.config import SelectConfig


def predict(
    data: Annotated[Path, typer.Argument(help="Folder with a log or LaMP files.")],
    out: Annotated[Path, typer.Option(help="Folder for the answers; goes on if they are begun.")],
    split: Annotated[str, typer.Option(help="train, dev or test.")] = "test",
    task: TaskName = None,
    controller: Controller = None,
    untrained: Untrained = False,
    config: Annotated[
        Path | None, typer.Option(help="A TOML file of settings, as for `enough select`.")
    ] = None,
    requests: Annotated[
        int, typer.Option(min=0, help="Only the first so many, to try it; 0 takes all.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Select records for every request of a split, call the generator once each, write answers.

    One line a request in predictions.jsonl; for LaMP's tasks also the file its leaderboard takes.
    Outputs are not read. Without a config, a bundled controller's generator has its adapter.
    """
    from enough.data.digest import questions_digest
    from enough.data.questions import read_questions
    from enough.errors import ConfigError
    from enough.evaluation.predictions import predict as answered
    from enough.generators.loading import load_configured
    from enough.online.personaliser import Enough
    from enough.online.untrained import UntrainedConfig
    from enough.tasks import task_named

    if untrained and controller is not None:
        raise ConfigError("--untrained uses no controller: give --untrained or --controller")
    require_apart(out, [data])
    settings = _settings(config, controller)
    if untrained and settings.untrained is None:
        settings = dataclasses.replace(settings, untrained=UntrainedConfig())
    questions = read_questions(data, split, task_named(task) if task else None)
    with progress_bars() as update:
        update("loading models", 0, 2)
        enough = Enough.configured(settings, controller)
        update("loading models", 1, 2)
        generator = load_configured(settings.generator)
        update("loading models", 2, 2)
        made_from = {
            "data": questions_digest(questions),
            "split": split,
            "generator": generator.fingerprint,
            "selecting": _selecting(settings, controller),
        }
        found = answered(
            questions, enough, generator, out, made_from, requests=requests, on_step=update
        )
    summary = _summary(found)
    if as_json:
        typer.echo(json.dumps({"folder": str(out), **summary}, indent=2))
        return
    saved = summary["tokens_saved"]
    compared = f"{abs(saved):.0f} {'fewer' if saved >= 0 else 'more'}"
    typer.echo(
        f"{summary['answers']} answers in {out}: {summary['records']:.1f} records and "
        f"{summary['tokens']:.0f} tokens a prompt, {compared} "
        f"than the first five records; no record in {summary['without_records']:.0%}"
    )


def _settings(config: Path | None, controller: Path | None) -> SelectConfig:
    from enough.config import load_config
    from enough.controller.bundled import DEFAULT_CONTROLLER, adapter_beside
    from enough.generators.config import GeneratorConfig
    from enough.online.config import SelectConfig

    if config is not None:
        return load_config(config, SelectConfig)
    adapter = adapter_beside(controller or Path(DEFAULT_CONTROLLER))
    return SelectConfig(generator=GeneratorConfig(adapter=adapter))


def _selecting(settings: SelectConfig, controller: Path | None) -> dict[str, Any]:
    """What a selection depends on, as plain values; a controller by its contents."""
    from enough.config import plain
    from enough.controller.bundled import DEFAULT_CONTROLLER, locate_controller
    from enough.controller.checkpoint import SETTINGS
    from enough.labels.folder import checksum

    table = plain(settings)
    del table["generator"]  # its fingerprint says more
    if settings.untrained is None:
        folder = locate_controller(controller or Path(DEFAULT_CONTROLLER))
        table["controller"] = checksum(folder / SETTINGS)  # with the checksum of its weights in it
    return table


def _summary(found: Sequence[Prediction]) -> dict[str, Any]:
    count = len(found)
    return {
        "answers": count,
        "records": sum(len(one.records) for one in found) / count,
        "tokens": sum(one.tokens for one in found) / count,
        "tokens_saved": sum(one.tokens_saved for one in found) / count,
        "without_records": sum(not one.records for one in found) / count,
    }
