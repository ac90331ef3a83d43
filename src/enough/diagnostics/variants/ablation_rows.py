"""Settings and rows of the ablations."""

from __future__ import annotations

from dataclasses import dataclass

from enough.config import require_at_least
from enough.diagnostics.tried import Tried
from enough.diagnostics.variants.ablation_variants import VARIANTS
from enough.errors import ConfigError, UnknownNameError


@dataclass(frozen=True, slots=True)
class AblationConfig:
    """What is compared.

    Attributes:
        variants: names of `ablation_variants.VARIANTS`; the full method is always there.
        lengths: among which the forced one is chosen; those above K_max are passed over.
        oracle_requests: per task, reported requests on which regret is measured; 0: none.
        oracle_pool, oracle_records: M' and K' there.
    """

    variants: tuple[str, ...] = tuple(one.name for one in VARIANTS)
    lengths: tuple[int, ...] = (1, 2, 3, 5, 10)
    oracle_requests: int = 50
    oracle_pool: int = 6
    oracle_records: int = 4

    def __post_init__(self) -> None:
        least = {"oracle_requests": 0, "oracle_pool": 1, "oracle_records": 1}
        require_at_least(self, least, "ablations.")
        known = {one.name for one in VARIANTS}
        for name in self.variants:
            if name not in known:
                raise UnknownNameError("ablation", name, known)
        if not self.lengths or min(self.lengths) < 0:
            raise ConfigError("ablations.lengths must name numbers of records")


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One request under one variant.

    Attributes:
        variant, group: title of the variant, and where the paper has it.
        forced_length: what was taken of every pool; None where the controller decides.
        regret: J lost against the exact oracle on a reduced pool; None where it is not known.
        tried: what came of the profile.
    """

    variant: str
    group: str
    forced_length: int | None
    regret: float | None
    tried: Tried
