"""How vLLM runs a generator inside this process."""

from __future__ import annotations

from dataclasses import dataclass

from enough.config import require_at_least
from enough.errors import ConfigError


@dataclass(frozen=True, slots=True)
class VLLMConfig:
    """The table `[generator.vllm]`.

    Attributes:
        tensor_parallel: GPUs that share every layer.
        memory: share of each GPU's memory it may take.
        window: tokens of prompt and answer together, where fewer than the model's are enough.
        revision: of a hub name's weights; part of the fingerprint. Files in a folder are hashed.
        eager: run without compiled graphs: starts sooner, scores more slowly.
    """

    tensor_parallel: int = 1
    memory: float = 0.9
    window: int | None = None
    revision: str = ""
    eager: bool = False

    def __post_init__(self) -> None:
        require_at_least(self, {"tensor_parallel": 1})
        if not 0 < self.memory <= 1:
            raise ConfigError(f"memory must be above 0 and at most 1, not {self.memory}")
        if self.window is not None:
            require_at_least(self, {"window": 2})
