"""How a generator is named in a configuration file. Light: nothing heavy is imported here."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from enough.errors import ModelError, UnknownNameError
from enough.precision import Precision

log = logging.getLogger(__name__)

DEFAULT_GENERATOR = "SmolLM2-135M-Instruct"
ScorerName = Literal["auto", "naive", "packed", "forked"]
_ADAPTER_FILE = "adapter_config.json"


@dataclass(frozen=True, slots=True)
class GeneratorConfig:
    """Which model, and how it runs.

    Attributes:
        model: the bundled default, a local folder, or a hub name.
        adapter: folder of a LoRA adapter, or the name of a bundled one ("lamp", "synthetic");
            merged into the weights.
        device: "cpu", "cuda", "cuda:1"; the first GPU where there is one, by default.
        dtype: "auto" is bfloat16 where the hardware is made for it, float32 elsewhere.
        scorer: "auto" takes the fastest one that is exact for the model.
        compile: compile the layers for packed scoring: a start of half a minute, then faster on a
            GPU. Wants a C compiler there.
    """

    model: str = DEFAULT_GENERATOR
    adapter: Path | None = None
    device: str | None = None
    dtype: Precision = "auto"
    scorer: ScorerName = "auto"
    compile: bool = False


def bundled_adapters() -> dict[str, Path]:
    """Adapters that come with the package, by name."""
    folder = Path(str(resources.files("enough"))) / "adapters"
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{_ADAPTER_FILE}"))}


def locate_adapter(adapter: Path) -> Path:
    """The folder of an adapter; a bundled one goes before a folder of the same name.

    Raises:
        UnknownNameError: if it is a plain name, neither bundled nor a folder.
        ModelError: if it is a path without an adapter.
    """
    bundled = bundled_adapters()
    is_name = len(adapter.parts) == 1 and not adapter.is_absolute()
    if is_name and adapter.name in bundled:
        if (adapter / _ADAPTER_FILE).is_file():
            log.warning(
                "taking the bundled adapter %s, not the folder: give its full path", adapter
            )
        return bundled[adapter.name]
    folder = adapter.expanduser()
    if is_name and not folder.exists():
        raise UnknownNameError("adapter (and no such folder)", str(adapter), bundled or ["none"])
    if not (folder / _ADAPTER_FILE).is_file():
        raise ModelError(f"{adapter}: not an adapter folder (no {_ADAPTER_FILE})")
    return folder
