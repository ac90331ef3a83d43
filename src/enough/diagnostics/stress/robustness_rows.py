"""Settings and rows of the robustness ladder."""

from __future__ import annotations

from dataclasses import dataclass

from enough.config import require_at_least
from enough.diagnostics.tried import Tried

OWN_POOL = "Own pool"


@dataclass(frozen=True, slots=True)
class RobustnessConfig:
    """How ladders are built.

    Attributes:
        considered: so many of the retriever's first records are tried alone.
        base: so many that do not help alone are in every pool, at most.
        others: so many records of others are drawn, of which the least similar is injected.
        seed: for that draw.
    """

    considered: int = 10
    base: int = 4
    others: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"considered": 1, "base": 0, "others": 1, "seed": 0}
        require_at_least(self, least, "robustness-ladder.")


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One request on one pool.

    Attributes:
        step: one of `candidate_ladder.STEPS`, or the request's own pool.
        left_out: why the request has no ladder, "" if it has one; it then has this row only.
        pool: how many records there were to choose from.
        kinds: of the injected records, those that were chosen.
    """

    step: str
    left_out: str
    pool: int
    kinds: tuple[str, ...]
    tried: Tried
