"""Controllers that come with the package, by name.

In: a plain name or a folder. Out: the folder. The default one was trained on six real tasks with
the default encoder and generator; for any other of these it says nothing.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from enough.controller.checkpoint import SETTINGS, Trained, load_controller

DEFAULT_CONTROLLER = "lamp"


def locate_controller(name: Path) -> Path:
    """The folder of a controller; a bundled one by its plain name."""
    bundled = Path(str(resources.files("enough"))) / "controllers" / name
    is_name = len(name.parts) == 1 and not name.is_absolute()
    return bundled if is_name and (bundled / SETTINGS).is_file() else name.expanduser()


def default_controller(*, encoder: str, tokenizer: str) -> Trained | None:
    """The bundled default, or None where it was made with another encoder or tokenizer."""
    found = load_controller(locate_controller(Path(DEFAULT_CONTROLLER)))
    fits = (found.made_with.encoder, found.made_with.tokenizer) == (encoder, tokenizer)
    return found if fits else None
