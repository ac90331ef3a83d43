"""The folder of an unfinished training run: what a killed one goes on from.

```
settings.json              what the run is made from; another one is refused
fold-1.safetensors         a finished fit: its weights; its scalars in the header
fit.state.safetensors      a fit under way: weights, both moments of the optimiser, the best weights
                           so far; step, lowest loss and scalars in the header
scalars.jsonl, tensorboard/    see `scalars`
```

No random state is kept: every draw is a function of seed, stage and step.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from enough.controller.fit_state import FitState, Keeper, Row, Stage
from enough.controller.model import Controller
from enough.controller.scalars import ScalarLog
from enough.errors import ConfigError, DataError
from enough.run_folders import first_difference, read_json, write_json, write_whole

_MOMENTS = ("exp_avg", "exp_avg_sq")  # what AdamW remembers of each weight
_HEADER = "enough"
SETTINGS = "settings.json"


class FitFiles(Keeper):
    """Keeps fits in a folder; scalars, kept and new ones, go to a log."""

    def __init__(self, folder: Path, scalars: ScalarLog) -> None:
        self._folder = folder
        self._scalars = scalars

    def finished(self, stage: Stage, model: Controller) -> bool:
        """Put the weights of a finished fit into the model; false if it is not finished."""
        path = self._finished(stage)
        if not path.exists():
            return False
        weights, header = _read(path)
        _load(path, model, weights)
        self._tell(stage, header["rows"])
        return True

    def restore(
        self, stage: Stage, model: Controller, optimiser: torch.optim.Optimizer
    ) -> FitState | None:
        """Put a fit under way back into model and optimiser; None if there is none."""
        path = self._state(stage)
        if not path.exists():
            return None
        tensors, header = _read(path)
        _load(path, model, _part(tensors, "weight"))
        moments = {name: _part(tensors, name) for name in _MOMENTS}
        remembered = {
            place: {
                "step": torch.tensor(float(header["step"])),
                **{name: moments[name][weight] for name in _MOMENTS},
            }
            for place, (weight, _) in enumerate(model.named_parameters())
            if weight in moments[_MOMENTS[0]]
        }
        groups = optimiser.state_dict()["param_groups"]
        optimiser.load_state_dict({"state": remembered, "param_groups": groups})
        self._tell(stage, header["rows"])
        return FitState(kept=_part(tensors, "best"), **header)

    def looked(self, stage: Stage, row: Row) -> None:
        """One more row."""
        self._scalars.add(stage.name, row)

    def save(
        self,
        stage: Stage,
        model: Controller,
        optimiser: torch.optim.Optimizer,
        state: FitState,
    ) -> None:
        """Replace the state by this one, whole or not at all."""
        tensors = {f"best/{name}": value for name, value in state.kept.items()}
        for name, weight in model.named_parameters():
            tensors[f"weight/{name}"] = weight.detach()
            # A weight that a variant does not use has no gradient, so nothing is remembered of it.
            for moment in _MOMENTS if weight in optimiser.state else ():
                tensors[f"{moment}/{name}"] = optimiser.state[weight][moment]
        header = {
            "step": state.step,
            "best": state.best,
            "waited": state.waited,
            "rows": state.rows,
        }
        _write(self._state(stage), tensors, header)

    def finish(self, stage: Stage, model: Controller, state: FitState) -> None:
        """Keep a finished fit; its state is not needed any more."""
        _write(self._finished(stage), model.state_dict(), {"rows": state.rows})
        self._state(stage).unlink(missing_ok=True)

    def _tell(self, stage: Stage, rows: list[Row]) -> None:
        for row in rows:
            self._scalars.add(stage.name, row)

    def _finished(self, stage: Stage) -> Path:
        return self._folder / f"{stage.name}.safetensors"

    def _state(self, stage: Stage) -> Path:
        return self._folder / f"{stage.name}.state.safetensors"


def require_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write the settings of a new run; refuse to go on with others."""
    path = folder / SETTINGS
    is_begun = any(folder.glob("*.safetensors"))
    if not (is_begun and path.exists()):  # a run that failed before its first fit binds nobody
        write_json(path, settings)
    elif name := first_difference(read_json(path), settings):
        raise ConfigError(
            f"{folder}: was begun with another setting of {name}; give these settings another "
            "folder, the old ones back, or delete it to begin anew"
        )


def remove_unfinished(folder: Path) -> None:
    """After the controller itself is written."""
    shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    whole = {name: tensor.contiguous() for name, tensor in tensors.items()}
    write_whole(path, save(whole, {_HEADER: json.dumps(header)}))


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            header: dict[str, Any] = json.loads(file.metadata()[_HEADER])
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None
    return tensors, header


def _load(path: Path, model: Controller, weights: dict[str, Tensor]) -> None:
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise _damaged(path, error) from None


def _part(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    start = f"{name}/"
    return {key.removeprefix(start): one for key, one in tensors.items() if key.startswith(start)}


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(f"cannot be read ({error}); delete it to begin this fit anew", path=path)
