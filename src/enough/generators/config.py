"""How a generator is named in a configuration file. Light: nothing heavy is imported here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DEFAULT_GENERATOR = "SmolLM2-135M-Instruct"
ScorerName = Literal["auto", "naive", "packed", "forked"]
DtypeName = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class GeneratorConfig:
    """Which model, and how it runs.

    Attributes:
        model: the bundled default, a local folder, or a hub name.
        adapter: folder of a LoRA adapter, merged into the weights.
        device: "cpu", "cuda", "cuda:1"; the first GPU where there is one, by default.
        dtype: "auto" is bfloat16 on a GPU and float32 on a CPU.
        scorer: "auto" takes the fastest one that is exact for the model.
    """

    model: str = DEFAULT_GENERATOR
    adapter: Path | None = None
    device: str | None = None
    dtype: DtypeName = "auto"
    scorer: ScorerName = "auto"
