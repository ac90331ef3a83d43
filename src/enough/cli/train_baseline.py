"""`enough train --method NAME`: a baseline that learns, on the users ENOUGH learns from."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import typer

from enough.cli.terminal import progress_bars


def train_baseline(
    kind: str, data: list[Path], out: Path, config: Path | None, seed: int, as_json: bool
) -> None:
    """Train one method into a folder; settings are those of the recipe's first such method."""
    from enough.baselines.registry import METHODS, method_config, method_entry
    from enough.baselines.tools import TrainableConfig
    from enough.data.folders import datasets_of
    from enough.errors import ConfigError
    from enough.evaluation.recipe import EvaluateConfig, MethodLine, load_recipe

    method_entry(kind)
    shared, line = EvaluateConfig(), MethodLine(kind, kind, method_config(kind, {}, "--method"))
    if config is not None:
        recipe = load_recipe(config)
        shared = recipe.config
        line = next((one for one in recipe.methods if one.kind == kind), line)
    if not isinstance(line.settings, TrainableConfig):
        learning = [name for name in METHODS if _learns(name)]
        raise ConfigError(f"{kind!r} learns nothing; those that do: {', '.join(learning)}")
    if data:
        shared = dataclasses.replace(shared, data=tuple(data))
    started = time.monotonic()
    report = _train(line, shared, datasets_of(shared.data, shared.world), seed, out)
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        told = json.dumps(report, indent=2)
        typer.echo(f"{told}\n{kind} is in {out}, after {time.monotonic() - started:.0f} s.")


def _learns(kind: str) -> bool:
    from enough.baselines.registry import method_entry
    from enough.baselines.tools import TrainableConfig

    return isinstance(method_entry(kind).config_type()(), TrainableConfig)


def _train(line: Any, shared: Any, datasets: Any, seed: int, out: Path) -> dict[str, Any]:
    from enough.evaluation.equipment import Equipment
    from enough.evaluation.method_training import train_method
    from enough.generators.loading import load_open
    from enough.teacher.preparation import load_stages

    stages = load_stages(shared.retrieval, shared.matching)
    with progress_bars() as update:
        equipment = Equipment.of(shared, stages, load_open)
        return train_method(line, equipment, datasets, seed=seed, out=out, on_step=update)
