"""A tuned adapter on disk: what peft reads, and what it was made from.

```
adapter_config.json          peft's own; only what every version of peft knows
adapter_model.safetensors    the updates, bfloat16
tuning.json                  settings, data, generator, what was measured, versions
README.md                    the model card
```

The folder appears when it is whole. No path of this machine is in it.
"""

from __future__ import annotations

import hashlib
import logging
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from enough.bundled_models import BUNDLED_MODELS, new_folder
from enough.errors import ConfigError, DataError
from enough.generators.config import locate_adapter
from enough.run_folders import read_json, write_json, write_whole
from enough.tuning.config import LoraSettings
from enough.tuning.lora import Lora

log = logging.getLogger(__name__)
FORMAT = 1
CONFIG_FILE = "adapter_config.json"
WEIGHTS_FILE = "adapter_model.safetensors"
TUNING_FILE = "tuning.json"
_UNKNOWN_HERE = (
    "use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "modules_to_save", "fan_in_fan_out",
)  # fmt: skip

_CARD = """\
# A LoRA adapter for {model}

Tuned with `enough tune` so that the model can be personalised: it has learnt what an answer looks
like, so that a record in the prompt should help for what it says about the user, and not otherwise.

{start}- **Data**: {source}; {requests:,} requests of {tasks}.
  Profiles of 0 to {max_records} records.
- **Measured** on users it was not tuned on, mean negative log-likelihood of a reference token
  without records / with own ones / with as many of others: before {before}; after {after}.
- **Licence**: {licence}.
- **Limits**: made for the prompts of `enough` and for these tasks. It is a small update of a small
  model; it knows the style of its tuning data and little else. `tuning.json` has all settings.
"""


_BEGUN = """\
- **Begun with** the adapter `{}`, which may have been tuned on users that this one was measured on.
"""


def write_adapter(folder: Path, lora: Lora, about: dict[str, Any]) -> None:
    """Write all files; `about` is what goes into tuning.json."""
    with new_folder(folder) as unfinished:
        # One kind of header entry, and sorted names: equal weights are equal bytes.
        write_whole(unfinished / WEIGHTS_FILE, save(lora.tensors(), {"format": "pt"}))
        write_json(unfinished / CONFIG_FILE, peft_config(lora, about["base_model"]))
        write_json(unfinished / TUNING_FILE, about)
        write_whole(unfinished / "README.md", _card(about).encode())
        unfinished.chmod(0o755)  # temporary folders are closed to others


def digest_of(start: Path) -> str:
    """Of the weights of an adapter that a run goes on from.

    Raises:
        DataError: if there are none that can be read.
    """
    path = locate_adapter(start) / WEIGHTS_FILE
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", path=path) from None
    return found.hexdigest()


def require_plain(start: Path, settings: LoraSettings) -> None:
    """Refuse an adapter of another shape, as far as that can be said without the model.

    Raises:
        ConfigError: if it has one.
    """
    folder = locate_adapter(start)
    about = read_json(folder / CONFIG_FILE)
    wanted = {"peft_type": "LORA", "r": settings.rank, "lora_alpha": settings.alpha}
    for name, ours in wanted.items():
        if (theirs := about.get(name)) != ours:
            raise ConfigError(f"start: {folder.name} has {name} {theirs!r}, this run {ours!r}")
    for name in _UNKNOWN_HERE:
        if theirs := about.get(name):
            raise ConfigError(f"start: {folder.name} has {name} {theirs!r}, which tuning has not")


def read_start(folder: Path, lora: Lora, model: str) -> dict[str, torch.Tensor]:
    """The updates of an adapter, which has passed `require_plain`.

    Args:
        folder: of the adapter.
        lora: what is to go on from it.
        model: name of the model that is tuned.

    Raises:
        ConfigError: if they belong to other layers.
        DataError: if a file cannot be read.
    """
    about = read_json(folder / CONFIG_FILE)
    theirs, ours = sorted(about.get("target_modules") or ()), list(lora.modules)
    if theirs != ours:
        raise ConfigError(f"start: {folder.name} has updates of {theirs}, this run of {ours}")
    if (base := about.get("base_model_name_or_path")) != model:
        log.warning("start: %s was made for %s; if that is not %s, stop", folder.name, base, model)
    try:
        return load_file(folder / WEIGHTS_FILE)
    except (OSError, SafetensorError) as error:
        raise DataError(f"cannot be read ({error})", path=folder / WEIGHTS_FILE) from None


def peft_config(lora: Lora, model: str) -> dict[str, Any]:
    """Only keys that peft has always had: it warns of any it does not know."""
    return {
        "base_model_name_or_path": model,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "lora_alpha": lora.settings.alpha,
        "lora_dropout": lora.settings.dropout,
        "peft_type": "LORA",
        "r": lora.settings.rank,
        "target_modules": list(lora.modules),
        "task_type": "CAUSAL_LM",
    }


def versions() -> dict[str, str]:
    """Of the libraries an adapter's bits depend on, as far as they are installed."""
    found = {}
    for name in ("enough", "peft", "torch", "transformers"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from a source tree
            continue
    return found


def _card(about: dict[str, Any]) -> str:
    model, requests = about["base_model"], about["requests"]["fitted"]
    bundled = BUNDLED_MODELS.get(model)
    licence = bundled.licence if bundled else f"that of {model} and of the data"
    start = about.get("begun_with")
    return _CARD.format(
        model=model,
        start="" if start is None else _BEGUN.format(start),
        source=about["source"],
        requests=sum(requests.values()),
        tasks=", ".join(requests),
        max_records=about["settings"]["config"]["max_records"],
        before=_numbers(about["measured"]["before"][-1]),
        after=_numbers(about["measured"]["after"][-1]),
        licence=licence,
    )


def _numbers(row: dict[str, Any]) -> str:
    return " / ".join(f"{row[name]:.3f}" for name in ("empty", "own", "others"))
