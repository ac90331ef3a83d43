"""The settings of a tuning run, as a TOML file has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from enough.config import LATER, as_table, require_at_least
from enough.data.splits import SliceConfig
from enough.errors import ConfigError
from enough.generators.config import GeneratorConfig
from enough.model_names import model_name
from enough.retrieval.pools import RetrievalConfig

_LEAST = {
    "requests": 0,
    "seed": 0,
    "epochs": 1,
    "batch": 1,
    "max_records": 1,
    "max_tokens": 2,
    "pass_tokens": 0,
    "measured": 1,
    "save_every": 1,
}


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """The shape of the adapter.

    Attributes:
        rank: of each update.
        alpha: the update is scaled by alpha / rank.
        dropout: share of a layer's inputs that the update does not see while it is fitted.
        modules: names of the layers that get one; none: every linear layer but the output layer.
    """

    rank: int = 8
    alpha: int = 16
    dropout: float = 0.0
    modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_at_least(self, {"rank": 1, "alpha": 1}, "lora.")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"lora.dropout must be at least 0 and below 1, not {self.dropout}")


@dataclass(frozen=True, slots=True)
class TuneConfig:
    """A tuning run.

    Attributes:
        split: whose examples: the users of the slice "tune", or all of the split "train".
        requests: per task, drawn at random; 0 takes all.
        seed: for every draw.
        epochs: how often each request is seen; with another profile every time.
        batch: examples per step of the optimiser.
        learning_rate: the highest one.
        warmup: share of the steps in which it rises; then it falls to 0 along a cosine.
        clip: the longest gradient.
        max_records: profiles hold 0 to so many records, all sizes equally often.
        max_tokens: of a prompt with its reference; records that do not fit are left out whole.
        pass_tokens: tokens computed together; 0 is what suits the device. Less takes less memory.
        held_out: share of the users that are never tuned on.
        measured: how many of their requests are measured before and after, per task.
        save_every: steps between two points from which a killed run goes on.
        start: an adapter to go on from, a folder or the name of a bundled one; `lora` must say the
            shape it has. None begins with updates that change nothing.
    """

    split: Literal["tune", "train"] = "tune"
    requests: int = 0
    seed: int = 0
    epochs: int = 1
    batch: int = 16
    learning_rate: float = 1e-4
    warmup: float = 0.05
    clip: float = 1.0
    max_records: int = 5
    max_tokens: int = 2048
    pass_tokens: int = 0
    held_out: float = 0.1
    measured: int = 50
    save_every: int = 50
    start: Path | None = field(default=None, metadata=LATER)
    slices: SliceConfig = field(default_factory=SliceConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)
    lora: LoraSettings = field(default_factory=LoraSettings)

    def __post_init__(self) -> None:
        require_at_least(self, _LEAST)
        for name in ("learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0, not {getattr(self, name)}")
        if not 0 <= self.warmup <= 1:
            raise ConfigError(f"warmup must be between 0 and 1, not {self.warmup}")
        if not 0 < self.held_out < 1:
            raise ConfigError(f"held_out must be above 0 and below 1, not {self.held_out}")
        if self.generator.is_elsewhere:
            raise ConfigError("generator: tuning changes weights, so transformers must run it here")
        if self.generator.adapter is not None:
            raise ConfigError(
                "generator.adapter: tuning starts from a model without an adapter; to go on from "
                "one, name it as start"
            )
        if self.generator.dtype == "float16":
            raise ConfigError("generator.dtype: tuning knows float32 and bfloat16, not float16")

    @property
    def of_result(self) -> dict[str, Any]:
        """What the adapter depends on but for `start`: plain values, no paths of this machine."""
        table: dict[str, Any] = as_table(self)
        del table["save_every"], table["generator"]
        table.pop("start", None)
        table["generator"] = {
            "model": model_name(self.generator.model),
            "dtype": self.generator.dtype,
            **({"compile": True} if self.generator.compile else {}),
        }
        if self.retrieval.encoder is not None:
            table["retrieval"]["encoder"] = self.retrieval.encoder_name
        return table
