"""Controllers that come with the package, by name.

In: a plain name or a folder. Out: the folder. The default one was trained on six real tasks with
the default encoder and generator; for any other of these it says nothing. A bundled controller has
learnt what records do to the generator with the bundled adapter of the same name.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from enough.controller.checkpoint import SETTINGS, Trained, load_controller
from enough.errors import UnknownNameError
from enough.generators.config import bundled_adapters

DEFAULT_CONTROLLER = "lamp"


def locate_controller(name: Path) -> Path:
    """The folder of a controller; a bundled one by its plain name.

    Raises:
        UnknownNameError: if it is neither.
    """
    bundled = Path(str(resources.files("enough"))) / "controllers"
    folder = name.expanduser()
    if len(name.parts) != 1 or name.is_absolute():
        return folder
    if (bundled / name / SETTINGS).is_file():
        return bundled / name
    if not folder.exists():
        known = sorted(one.parent.name for one in bundled.glob(f"*/{SETTINGS}"))
        raise UnknownNameError("folder or bundled controller", str(name), known)
    return folder


def adapter_beside(controller: Path) -> Path | None:
    """The adapter a bundled controller was trained with, by name; None for any other one."""
    is_bundled = locate_controller(controller) != controller.expanduser()
    return controller if is_bundled and controller.name in bundled_adapters() else None


def default_controller(*, encoder: str, tokenizer: str) -> Trained | None:
    """The bundled default, or None where it was made with another encoder or tokenizer."""
    found = load_controller(locate_controller(Path(DEFAULT_CONTROLLER)))
    fits = (found.made_with.encoder, found.made_with.tokenizer) == (encoder, tokenizer)
    return found if fits else None
