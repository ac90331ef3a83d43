"""How a generator is named in a configuration file. Light: nothing heavy is imported here."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from enough.config import LATER, as_table
from enough.errors import ConfigError, ModelError, UnknownNameError
from enough.generators.remote.config import RemoteConfig
from enough.generators.vllm_config import VLLMConfig
from enough.precision import Precision

log = logging.getLogger(__name__)

DEFAULT_GENERATOR = "SmolLM2-135M-Instruct"
ScorerName = Literal["auto", "naive", "packed", "forked"]
_ADAPTER_FILE = "adapter_config.json"
_DEFAULTS: dict[str, Any] = {
    "adapter": None, "device": None, "dtype": "auto", "scorer": "auto", "compile": False
}  # fmt: skip
_NOT_OURS = {"remote": tuple(_DEFAULTS), "vllm": ("adapter", "device", "scorer", "compile")}
_INSTEAD = {
    "remote": "start the server with it, and leave it out here",
    "vllm": "leave it out; for an adapter, merge it into the weights",
}


@dataclass(frozen=True, slots=True)
class GeneratorConfig:
    """Which model, and how it runs: here, behind a URL, or in a vLLM engine of this process.

    Attributes:
        model: the bundled default, a local folder, or a hub name; behind a URL, what the server
            calls it.
        adapter: folder of a LoRA adapter, or the name of a bundled one ("lamp", "synthetic");
            merged into the weights.
        device: "cpu", "cuda", "cuda:1"; the first GPU where there is one, by default.
        dtype: "auto" is bfloat16 where the hardware is made for it, float32 elsewhere.
        scorer: "auto" takes the fastest one that is exact for the model.
        compile: compile the layers for packed scoring: a start of half a minute, then faster on a
            GPU. Wants a C compiler there.
        remote: a server that has it; where it runs and how is then the server's business.
        vllm: run it with vLLM.
    """

    model: str = DEFAULT_GENERATOR
    adapter: Path | None = None
    device: str | None = None
    dtype: Precision = "auto"
    scorer: ScorerName = "auto"
    compile: bool = False
    remote: RemoteConfig | None = field(default=None, metadata=LATER)
    vllm: VLLMConfig | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        if self.remote is not None and self.vllm is not None:
            raise ConfigError("give a [generator.remote] table or a [generator.vllm] one, not both")
        for engine, ours in _NOT_OURS.items():
            for name in ours if getattr(self, engine) is not None else ():
                if getattr(self, name) != _DEFAULTS[name]:
                    raise ConfigError(
                        f"{name} is for a model that transformers runs here; with "
                        f"[generator.{engine}] {_INSTEAD[engine]}"
                    )

    @property
    def is_elsewhere(self) -> bool:
        """Whether another engine than ours runs it, with batches and threads of its own."""
        return self.remote is not None or self.vllm is not None

    @property
    def prompt_model(self) -> str:
        """Whose tokenizer it is, for `from_pretrained`."""
        return self.model if self.remote is None else self.remote.tokenizer or self.model

    @property
    def of_likelihoods(self) -> dict[str, Any]:
        """Everything a likelihood may depend on, as plain values."""
        table: dict[str, Any] = as_table(self)
        del table["device"]
        table["adapter"] = str(self.adapter)
        if self.remote is not None:
            table["remote"] = self.remote.of_likelihoods
        return table


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
