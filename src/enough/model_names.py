"""What a model is called where no path of this machine may stand: on cards, in published files."""

from __future__ import annotations

from pathlib import Path


def model_name(model: str) -> str:
    """The name of a model: of a folder its own name, not where it lies."""
    folder = Path(model).expanduser()
    return folder.resolve().name if folder.is_dir() else model
