"""Options of commands whose work a fleet can do."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from enough.fleet.config import EngineConfig


class EngineName(StrEnum):
    """Who does the work."""

    LOCAL = "local"
    RAY = "ray"


Engine = Annotated[
    EngineName | None,
    typer.Option(
        help="Processes of this machine, or the actors of a Ray cluster.", show_default="local"
    ),
]
Workers = Annotated[int | None, typer.Option(min=0, help="How many; 0 chooses.")]


def with_engine(
    given: EngineConfig, engine: EngineName | None, workers: int | None
) -> EngineConfig:
    """Options on the command line go before the file."""
    return dataclasses.replace(
        given,
        kind=given.kind if engine is None else engine.value,
        workers=given.workers if workers is None else workers,
    )
