"""Settings with some of their values changed, named as a file would name them.

In: a dataclass of settings and changes such as {"targets.beta": 0.0}. Out: another one. Variants
of a controller or of a teacher are tables of such changes, not code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

C = TypeVar("C")

Change = tuple[str, Any]
"""Fields joined by dots, and the value."""


def changed(settings: C, changes: Iterable[Change]) -> C:
    """The settings with all changes made.

    >>> from enough.controller.train_config import TrainConfig
    >>> changed(TrainConfig(), [("targets.beta", 0.0)]).targets.beta
    0.0
    """
    for path, value in changes:
        settings = _with(settings, path, value)
    return settings


def value_at(settings: Any, path: str) -> Any:
    """What stands there."""
    for name in path.split("."):
        settings = getattr(settings, name)
    return settings


def _with(settings: Any, path: str, value: Any) -> Any:
    name, _, rest = path.partition(".")
    return replace(
        settings, **{name: _with(getattr(settings, name), rest, value) if rest else value}
    )
