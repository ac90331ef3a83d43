"""The folder of an unfinished run: what a killed one goes on from.

```
settings.json         what the run is made from; another one is refused
before.json           what was measured before the first step
state.safetensors     weights, both moments of the optimiser, losses so far; step in the header
```

No random state is kept: every draw is a function of seed and step.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from enough.errors import ConfigError, DataError
from enough.run_folders import first_difference, read_json, write_json, write_whole

_KEPT = ("exp_avg", "exp_avg_sq")  # what AdamW remembers of each weight


class UnfinishedRun:
    """Paths and contents of such a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before_file = path / "before.json"
        self._settings = path / "settings.json"
        self._state = path / "state.safetensors"

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
