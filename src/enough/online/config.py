"""How an app's requests are answered for: the settings of `Enough` and of `enough select`."""

from __future__ import annotations

from dataclasses import dataclass, field

from enough.config import require_at_least
from enough.generators.config import GeneratorConfig
from enough.online.untrained import UntrainedConfig
from enough.retrieval.pools import RetrievalConfig


@dataclass(frozen=True, slots=True)
class SelectConfig:
    """How records are selected.

    Attributes:
        retrieval: how pools are made; as in training, where there is a controller.
        generator: whose tokens are counted and whose chat form is written.
        untrained: what the fallback asks of a record; given, it selects, and no controller does.
        window: tokens of prompt and answer together; by default the generator's.
        max_records: K_max.
    """

    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)
    untrained: UntrainedConfig | None = None
    window: int | None = None
    max_records: int = 10

    def __post_init__(self) -> None:
        require_at_least(self, {"max_records": 0})
        if self.window is not None:
            require_at_least(self, {"window": 1})
