"""Settings and rows of the specificity interventions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from enough.config import require_at_least
from enough.diagnostics.tried import Tried

TARGET = "Target user"
MATCHED = "Matched other user"
SHUFFLE = "Action shuffle"
CALLED_OWN = "Owner permutation, called own"
CALLED_OTHER = "Owner permutation, called other"
RANDOM = "Random other user"
SWAP = "Whole-profile swap"
INTERVENTIONS_IN_ORDER = (TARGET, MATCHED, SHUFFLE, CALLED_OWN, CALLED_OTHER, RANDOM, SWAP)
COMPARED_WITH = {
    MATCHED: TARGET,
    SHUFFLE: TARGET,
    CALLED_OTHER: CALLED_OWN,
    RANDOM: TARGET,
    SWAP: TARGET,
}
"""What each difference is taken against, on the same requests."""


@dataclass(frozen=True, slots=True)
class InterventionsConfig:
    """Which profiles are intervened on.

    Attributes:
        profile: what ENOUGH chose, or the retriever's first records.
        length: of the latter.
        seed: for everything that is drawn.
    """

    profile: Literal["enough", "fixed"] = "enough"
    length: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        require_at_least(self, {"length": 1, "seed": 0}, "interventions.")


@dataclass(frozen=True, slots=True)
class InterventionRow:
    """One request under one intervention.

    Attributes:
        left_out: why the request is in no comparison; "" if it is. Such a request has one row, with
            its own profile.
        unchanged: records that are what they were, because nothing else was to be had.
        covariates: how many have a standardised mean difference (SMD) between records and what
            replaces them, over all requests of this task and intervention.
        mean_smd: mean of their absolute values; None where there is none.
    """

    intervention: str
    left_out: str
    tried: Tried
    unchanged: int = 0
    covariates: int = 0
    mean_smd: float | None = None
