"""How a generator is named in a configuration file. Light: nothing heavy is imported here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from enough.precision import Precision

DEFAULT_GENERATOR = "SmolLM2-135M-Instruct"
ScorerName = Literal["auto", "naive", "packed", "forked"]


@dataclass(frozen=True, slots=True)
class GeneratorConfig:
    """Which model, and how it runs.

    Attributes:
        model: the bundled default, a local folder, or a hub name.
        adapter: folder of a LoRA adapter, merged into the weights.
        device: "cpu", "cuda", "cuda:1"; the first GPU where there is one, by default.
        dtype: "auto" is bfloat16 where the hardware is made for it, float32 elsewhere.
        scorer: "auto" takes the fastest one that is exact for the model.
    """

    model: str = DEFAULT_GENERATOR
    adapter: Path | None = None
    device: str | None = None
    dtype: Precision = "auto"
    scorer: ScorerName = "auto"
