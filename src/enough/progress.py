"""How long work says how far it is; the command line draws bars from it."""

from __future__ import annotations

from typing import Protocol


class OnStep(Protocol):
    """Called with a step's name, what is done, what there is to do, and perhaps more."""

    def __call__(self, name: str, done: int, total: int, note: str = "") -> None:
        """Tell how far a step is."""
        ...


def silent(name: str, done: int, total: int, note: str = "") -> None:
    """Tells nobody."""
