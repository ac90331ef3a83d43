"""The settings of an exact-oracle diagnostic, as a TOML file has them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from math import perm
from typing import Literal

from enough.config import require_at_least
from enough.data.splits import SliceConfig
from enough.errors import ConfigError
from enough.generators.config import GeneratorConfig
from enough.matching.matcher import MatchConfig
from enough.retrieval.pools import RetrievalConfig
from enough.teacher.calibration import CalibrationConfig
from enough.teacher.components import TargetConfig
from enough.teacher.proposals import SearchConfig
from enough.teacher.specificity import SpecificityConfig
from enough.teacher.supervision import TeacherConfig

_MOST_PROFILES = 20_000  # of one request; each is scored, and so is each with every control


@dataclass(frozen=True, slots=True)
class OracleConfig:
    """An exact-oracle diagnostic.

    Attributes:
        split: which examples.
        requests: per task, drawn at random; 0 takes all.
        seed: for that draw.
        slices: how "select", "report" and the other slices of users are dealt.
        pool: M', candidates left of each pool, the retriever's best.
        max_records: K', the horizon of every search here.
        slots: "all" scores the counterfactuals of every slot, "one" of a sampled one.
        epsilon: how much utility a sufficient profile may lack.
        search: budgets of the bounded teacher that is compared; its horizon is `max_records`.
    """

    split: str = "dev"
    requests: int = 1
    seed: int = 0
    slices: SliceConfig = field(default_factory=SliceConfig)
    pool: int = 6
    max_records: int = 4
    slots: Literal["one", "all"] = "all"
    epsilon: float = 0.1
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)
    matching: MatchConfig = field(default_factory=MatchConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    calibration: CalibrationConfig = field(default_factory=CalibrationConfig)
    targets: TargetConfig = field(default_factory=TargetConfig)

    def __post_init__(self) -> None:
        require_at_least(self, {"requests": 0, "seed": 0, "pool": 1, "max_records": 1})
        if not self.epsilon >= 0:
            raise ConfigError(f"epsilon must not be negative, not {self.epsilon}")
        if (count := profile_count(self.pool, self.max_records)) > _MOST_PROFILES:
            raise ConfigError(
                f"a pool of {self.pool} has {count:,} profiles of at most {self.max_records} "
                f"records; scoring more than {_MOST_PROFILES:,} for a request is refused"
            )

    @property
    def exhaustive(self) -> TeacherConfig:
        """A teacher whose budgets end nothing; its roots are those of the bounded one."""
        search = self.bounded(self.slots).search
        search = replace(search, actions=self.pool, width=sys.maxsize, levels=0)
        return TeacherConfig(search, SpecificityConfig(self.slots, audited=0))

    def bounded(self, slots: Literal["one", "all"]) -> TeacherConfig:
        """The teacher that is compared, with so many slots looked at."""
        search = replace(self.search, max_records=self.max_records)
        return TeacherConfig(search, SpecificityConfig(slots, audited=0))


def profile_count(pool: int, max_records: int) -> int:
    """How many ordered, non-repeating profiles there are.

    >>> profile_count(6, 4)
    517
    """
    return sum(perm(pool, length) for length in range(min(pool, max_records) + 1))
