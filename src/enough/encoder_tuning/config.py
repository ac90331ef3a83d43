"""The settings of an encoder's tuning, as a TOML file has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from enough.config import as_table, require_at_least
from enough.data.splits import SliceConfig
from enough.errors import ConfigError
from enough.generators.config import GeneratorConfig
from enough.model_names import model_name
from enough.retrieval.pools import RetrievalConfig

_LEAST = {
    "requests": 0, "seed": 0, "epochs": 1, "batch": 1, "texts": 1, "max_length": 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class EncoderTuneConfig:
    """How an encoder is tuned.

    Attributes:
        split: whose examples: the users of the slice "tune", or all of the split "train".
        requests: per task, drawn at random; 0 takes all.
        seed: for every draw.
        held_out: share of the users that it is only measured, and its best epoch chosen, on.
        epochs: how often each request is seen.
        batch: users per step of the optimiser; what their requests have in common is read once.
        texts: of a step computed together; less takes less memory.
        learning_rate: of the encoder, the highest one; it rises and falls as in `enough tune`.
        warmup: share of the steps in which it rises.
        temperature: T of the worth that is distilled, in units of the task's typical gain.
        max_length: tokens of a text that are read.
        retrieval: how pools are made; its encoder is the one that is tuned.
        generator: whose likelihoods teach.
    """

    split: Literal["tune", "train"] = "tune"
    requests: int = 0
    seed: int = 0
    held_out: float = 0.1
    epochs: int = 4
    batch: int = 8
    texts: int = 128
    learning_rate: float = 5e-5
    warmup: float = 0.1
    temperature: float = 1.0
    max_length: int = 256
    slices: SliceConfig = field(default_factory=SliceConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)

    def __post_init__(self) -> None:
        require_at_least(self, _LEAST)
        for name in ("learning_rate", "temperature"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0, not {getattr(self, name)}")
        if not 0 <= self.warmup <= 1:
            raise ConfigError(f"warmup must be between 0 and 1, not {self.warmup}")
        if not 0 < self.held_out < 1:
            raise ConfigError(f"held_out must be above 0 and below 1, not {self.held_out}")

    @property
    def of_result(self) -> dict[str, Any]:
        """Everything the encoder depends on, as plain values without paths of this machine."""
        table: dict[str, Any] = as_table(self)
        del table["texts"]
        table["generator"] = {
            "model": model_name(self.generator.model),
            "adapter": None if (one := self.generator.adapter) is None else one.name,
            "dtype": self.generator.dtype,
        }
        table["retrieval"]["encoder"] = self.base
        return table

    @property
    def base(self) -> str:
        """The name of the encoder that is tuned."""
        return self.retrieval.encoder_name
