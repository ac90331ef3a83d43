"""Settings and rows of the exact-oracle diagnostic, and the names of its selectors."""

from __future__ import annotations

from dataclasses import dataclass

from enough.config import require_at_least
from enough.diagnostics.tried import OURS
from enough.errors import ConfigError
from enough.evaluation.sufficiency import EPSILONS, SufficiencyRow
from enough.teacher.backup import Kind

ORACLE, TEACHER, ONE_SLOT = "exact oracle", "bounded teacher", "bounded, one slot"


@dataclass(frozen=True, slots=True)
class ExactOracleConfig:
    """How much is enumerated.

    Attributes:
        pool: M', candidates left of each pool, the retriever's best.
        max_records: K'; the study's own horizon, where that is shorter.
        requests: per task, of the reported ones; 0 takes all.
        epsilon: how much utility a sufficient profile may lack.
        epsilons: for the curve.
        kinds: of targets that further controllers are trained on; the study's own is passed over.
    """

    pool: int = 6
    max_records: int = 4
    requests: int = 50
    epsilon: float = 0.1
    epsilons: tuple[float, ...] = EPSILONS
    kinds: tuple[Kind, ...] = ("hindsight", "myopic")

    def __post_init__(self) -> None:
        least = {"pool": 1, "max_records": 1, "requests": 0, "epsilon": 0}
        require_at_least(self, least, "exact-oracle.")
        if not self.epsilons or min(self.epsilons) < 0:
            raise ConfigError("exact-oracle.epsilons must name numbers, none of them negative")
        if len(set(self.kinds)) < len(self.kinds):
            raise ConfigError("exact-oracle.kinds must name each kind of targets once")


@dataclass(frozen=True, slots=True)
class ExactOracleRow:
    """One selector on one request, and who asked."""

    user: str
    found: SufficiencyRow

    @property
    def cluster(self) -> str:
        """Whom intervals resample: the user within the task, since logs may share names."""
        return f"{self.found.task}/{self.user}"


def fixed_name(length: int) -> str:
    """Of the selector that takes so many records."""
    return f"fixed k={length}"


def trained_name(kind: Kind) -> str:
    """Of a controller that was trained on other targets."""
    return f"{OURS}, {kind} targets"
