"""The folder of an unfinished run: what a killed one goes on from.

```
settings.json         what the run is made from; another one is refused
before.json           what was measured before the first step
state.safetensors     weights, both moments of the optimiser, losses so far; step in the header
```

No random state is kept: every draw is a function of seed and step.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from enough.errors import ConfigError, DataError

_KEPT = ("exp_avg", "exp_avg_sq")  # what AdamW remembers of each weight


class UnfinishedRun:
    """Paths and contents of such a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before_file = path / "before.json"
        self._settings = path / "settings.json"
        self._state = path / "state.safetensors"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep others from tuning into the folder at the same time."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / ".lock").open("w")
        except OSError as error:
            reason = error.strerror or error
            raise ConfigError(f"{self.path}: cannot be written ({reason})") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ConfigError(f"{self.path}: another run is tuning into it") from None
            yield

    def require_settings(self, settings: dict[str, Any]) -> None:
        """Write the settings of a new run; refuse to go on with others."""
        if not self._settings.exists():
            write_json(self._settings, settings)
        elif name := first_difference(read_json(self._settings), settings):
            raise ConfigError(
                f"{self.path}: was begun with another setting of {name}; give these settings "
                "another folder, the old ones back, or delete it to begin anew"
            )

    def save(
        self, weights: dict[str, nn.Parameter], optimiser: torch.optim.Optimizer, losses: Tensor
    ) -> None:
        """Replace the state by one after as many steps as there are losses, whole or not at all."""
        tensors = {"losses": losses}
        for name, weight in weights.items():
            tensors[f"weight/{name}"] = weight.detach()
            for kept in _KEPT:
                tensors[f"{kept}/{name}"] = optimiser.state[weight][kept]
        on_cpu = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
        write_whole(self._state, save(on_cpu, {"step": str(len(losses))}))

    @torch.no_grad()
    def restore(
        self, weights: dict[str, nn.Parameter], optimiser: torch.optim.Optimizer
    ) -> Tensor | None:
        """Put weights and optimiser back; returns the losses so far, [steps], None if none are."""
        if not self._state.exists():
            return None
        try:
            with safe_open(self._state, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            remembered = {}
            for place, (name, weight) in enumerate(weights.items()):
                weight.copy_(tensors[f"weight/{name}"])
                remembered[place] = {kept: tensors[f"{kept}/{name}"] for kept in _KEPT}
                remembered[place]["step"] = torch.tensor(float(len(tensors["losses"])))
        except (SafetensorError, OSError, KeyError, RuntimeError) as error:
            problem = f"cannot be read ({error}); delete it to begin anew"
            raise DataError(problem, path=self._state) from None
        groups = optimiser.state_dict()["param_groups"]
        optimiser.load_state_dict({"state": remembered, "param_groups": groups})
        losses: Tensor = tensors["losses"]
        return losses

    def remove(self) -> None:
        """After the adapter itself is written."""
        shutil.rmtree(self.path, ignore_errors=True)


def write_whole(path: Path, content: bytes) -> None:
    """The file appears when it is on the disk."""
    unfinished = path.with_name(f"{path.name}.part")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def write_json(path: Path, value: object) -> None:
    """Indented JSON; the file appears when it is whole."""
    write_whole(path, f"{json.dumps(value, indent=2, sort_keys=True)}\n".encode())


def read_json(path: Path) -> dict[str, Any]:
    """An object from such a file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {error}", path=path) from None
    if not isinstance(value, dict):
        raise DataError("must hold one JSON object", path=path)
    return value


def first_difference(found: object, wanted: object, where: str = "") -> str | None:
    """The first key with another value, both values with it; None if there is none."""
    if not (isinstance(found, dict) and isinstance(wanted, dict)):
        same = found == json.loads(json.dumps(wanted))
        return None if same else f"{where} ({found!r}, now {wanted!r})"
    for key in sorted(found.keys() | wanted.keys()):
        inner = f"{where}.{key}" if where else key
        if (different := first_difference(found.get(key), wanted.get(key), inner)) is not None:
            return different
    return None
