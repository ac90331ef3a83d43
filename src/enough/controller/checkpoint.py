"""A trained controller on disk: weights as safetensors, everything else as JSON. No pickle.

```
controller.safetensors   weights
controller.json          shape, tasks, β, λ, T_s, scales, fingerprints of the frozen models
```

In: a folder. Out: `Trained`. A controller only means something together with the encoder whose
vectors it was trained on and the tokenizer its costs were counted with, so both are recorded, and
another one is refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enough.config import from_table
from enough.controller.features import STATIC
from enough.controller.habit import Habit
from enough.controller.model import Controller, ModelConfig
from enough.errors import ConfigError, ModelError
from enough.labels.tree_files import Fingerprints
from enough.run_folders import write_json, write_whole
from enough.teacher.components import Scale, TargetConfig

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = 2
WEIGHTS, SETTINGS = "controller.safetensors", "controller.json"


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A controller and what it was trained for.

    Attributes:
        model: the weights.
        point: β and λ it decides with: those of its targets, unless it was priced anew.
        stop_temperature: T_s, fitted on the selection split.
        scales: what a unit of gain and specificity was, by task.
        made_with: the frozen models.
        report: how training went.
        stop_offset: b in the probability σ(Δ/T_s + b) that the teacher would stop; no decision
            depends on it.
        habit: what values are compared with, beside STOP's.
    """

    model: Controller
    point: TargetConfig
    stop_temperature: float
    scales: dict[str, Scale]
    made_with: Fingerprints
    report: dict[str, Any]
    stop_offset: float = 0.0
    habit: Habit = field(default_factory=Habit)

    @property
    def trained_for(self) -> float:
        """λ of its training, whatever price it was given since."""
        return float(self.report.get("trained_for", {"lambda": self.point.lambda_})["lambda"])


def save_controller(folder: Path, trained: Trained) -> None:
    """Write both files; the JSON, which has the weights' checksum, comes last."""
    from safetensors.torch import save  # noqa: PLC0415 (heavy)

    weights = {name: value.contiguous() for name, value in trained.model.state_dict().items()}
    raw = save(weights)
    settings = {
        "format": FORMAT,
        "features": list(STATIC),
        "model": dataclasses.asdict(trained.model.config),
        "tasks": list(trained.model.tasks),
        "beta": trained.point.beta,
        "lambda": trained.point.lambda_,
        "stop_temperature": trained.stop_temperature,
        "stop_offset": trained.stop_offset,
        "habit": trained.habit.as_table(),
        "scales": {task: dataclasses.asdict(scale) for task, scale in trained.scales.items()},
        "made_with": dataclasses.asdict(trained.made_with),
        "report": trained.report,
        "sha256": hashlib.sha256(raw).hexdigest(),
    }
    write_whole(folder / WEIGHTS, raw)
    write_json(folder / SETTINGS, settings)


def load_controller(
    folder: Path, *, encoder: str | None = None, tokenizer: str | None = None
) -> Trained:
    """Read a controller.

    Args:
        folder: where it is.
        encoder: fingerprint of the encoder it is going to be used with, if that is known.
        tokenizer: the same of the tokenizer.

    Raises:
        ModelError: if files are missing, altered or of another format, or the encoder or tokenizer
            is another.
    """
    from safetensors.torch import load  # noqa: PLC0415 (heavy)

    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        raw = (folder / WEIGHTS).read_bytes()
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder}: not a controller ({error})") from None
    try:
        _check(folder, settings, raw)
        made_with = Fingerprints(**settings["made_with"])
        _check_models(folder, made_with, encoder, tokenizer)
        model = Controller(
            from_table(settings["model"], ModelConfig, str(folder / SETTINGS)), settings["tasks"]
        )
        model.load_state_dict(_of_all_features(load(raw), settings["features"]))
        return Trained(
            model=model.eval(),
            point=TargetConfig(settings["beta"], settings["lambda"]),
            stop_temperature=settings["stop_temperature"],
            scales={task: Scale(**scale) for task, scale in settings["scales"].items()},
            made_with=made_with,
            report=settings["report"],
            stop_offset=settings["stop_offset"],
            habit=Habit.of_table(settings["habit"]) if "habit" in settings else Habit(),
        )
    except (
        AssertionError,
        AttributeError,
        ConfigError,
        KeyError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        what = str(error).partition("\n")[0]  # torch names every weight that does not fit
        raise ModelError(
            f"{folder / SETTINGS}: damaged ({type(error).__name__}: {what}); copy it again"
        ) from error


def _check(folder: Path, settings: dict[str, Any], raw: bytes) -> None:
    if settings.get("format") != FORMAT:
        raise ModelError(
            f"{folder}: controller format {settings.get('format')}, this version reads {FORMAT}"
        )
    if unknown := sorted(set(settings["features"]) - set(STATIC)):
        raise ModelError(
            f"{folder}: was trained on a feature that this version does not have ({unknown[0]})"
        )
    if not settings["stop_temperature"] > 0:
        raise ValueError("stop_temperature must be above 0")
    if hashlib.sha256(raw).hexdigest() != settings["sha256"]:
        raise ModelError(f"{folder / WEIGHTS}: altered since it was written; copy it again")


def _of_all_features(weights: dict[str, Tensor], features: list[str]) -> dict[str, Tensor]:
    """The weights of a controller that knew fewer features: it makes nothing of the others."""
    places = [STATIC.index(name) for name in features]
    found = dict(weights)
    for name in ("static.weight", "worth"):  # [H, F], [tasks, F, outcomes]
        known = weights[name]
        found[name] = known.new_zeros(known.shape[0], len(STATIC), *known.shape[2:])
        found[name][:, places] = known
    return found


def _check_models(
    folder: Path, made_with: Fingerprints, encoder: str | None, tokenizer: str | None
) -> None:
    if encoder not in (None, made_with.encoder):
        raise ModelError(
            f"{folder}: was trained on the vectors of another encoder ({made_with.encoder}, "
            f"not {encoder}); name that one as `retrieval.encoder`, or train again"
        )
    if tokenizer not in (None, made_with.tokenizer):
        raise ModelError(
            f"{folder}: its costs were counted with another tokenizer ({made_with.tokenizer}, "
            f"not {tokenizer}); name the generator it was trained for, or train again"
        )
