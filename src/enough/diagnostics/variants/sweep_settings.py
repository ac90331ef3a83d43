"""What is varied in sweeps: parameters as a table, their values as settings, rows.

In: nothing. Out: `PARAMETERS` and the values of each. A parameter of the training needs another
controller on the same labels; a structural one needs other labels first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from enough.config import require_at_least
from enough.diagnostics.tried import Tried
from enough.diagnostics.variants.changed_settings import Change, value_at
from enough.errors import ConfigError

Number = int | float
STUDY, LENGTH = "study", "length"
"""Rows of the study's own controller, and of fixed lengths."""


@dataclass(frozen=True, slots=True)
class SweepConfig:
    """Values to try; none leaves a sweep out. The study's own value is always there.

    Attributes:
        beta, lambda_, rank, stop: β, λ, η and ζ of the training.
        pool, max_records, controls: M, K_max and K⁻ of the teacher.
        search: its (J, W).
        lengths: fixed lengths beside the frontier of λ.
        label_requests: per task, labelled for each value of the teacher's settings; 0: as many as
            the study has.
        oracle_requests: per task, reported requests on which regret is measured; 0: none.
        oracle_pool, oracle_records: M' and K' there.
    """

    beta: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    lambda_: tuple[float, ...] = (0.0, 0.1, 0.3, 1.0, 3.0)
    rank: tuple[float, ...] = (0.0, 0.2, 0.5, 1.0)
    stop: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 1.0)
    pool: tuple[int, ...] = (5, 10, 20, 30)
    max_records: tuple[int, ...] = (2, 5, 10, 15)
    controls: tuple[int, ...] = (1, 2, 3, 4, 5)
    search: tuple[tuple[int, int], ...] = ((4, 2), (8, 4), (16, 8))
    lengths: tuple[int, ...] = (0, 1, 3, 5, 10)
    label_requests: int = 0
    oracle_requests: int = 50
    oracle_pool: int = 6
    oracle_records: int = 4

    def __post_init__(self) -> None:
        least = {"label_requests": 0, "oracle_requests": 0, "oracle_pool": 1, "oracle_records": 1}
        require_at_least(self, least, "sweeps.")
        for one in PARAMETERS:
            for parts in one.values(self):
                if min(parts) < one.least:
                    raise ConfigError(f"sweeps.{one.key}: values must be at least {one.least}")
        if min(self.lengths, default=0) < 0:
            raise ConfigError("sweeps.lengths must name numbers of records")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting that is varied alone.

    Attributes:
        field: of `SweepConfig`, with its values.
        sign: the paper's letter.
        meaning: in words.
        paths: where it stands in the settings of the training or of the labels; a value of several
            parts has several.
        is_structural: it belongs to the teacher, so labels are made anew.
        beside: the measure of `sweep_section` that is drawn beside quality and J.
    """

    field: str
    sign: str
    meaning: str
    paths: tuple[str, ...]
    is_structural: bool = False
    beside: str = ""

    @property
    def key(self) -> str:
        """As a file writes it."""
        return self.field.removesuffix("_")

    @property
    def least(self) -> int:
        """The least value that makes sense."""
        return 1 if self.is_structural else 0

    def values(self, config: SweepConfig) -> list[tuple[Number, ...]]:
        """What is to be tried, each value as its parts."""
        given: Sequence[Any] = getattr(config, self.field)
        return [tuple(one) if isinstance(one, tuple) else (one,) for one in given]

    def own(self, settings: Any) -> tuple[Number, ...]:
        """The value that the study has."""
        return tuple(value_at(settings, path) for path in self.paths)

    def changes(self, parts: tuple[Number, ...]) -> tuple[Change, ...]:
        """From the study's settings to those of a value."""
        return tuple(zip(self.paths, parts, strict=True))


PARAMETERS = (
    Parameter("beta", "β", "weight of specificity", ("targets.beta",), beside="Specificity"),
    Parameter("lambda_", "λ", "price of 1,024 tokens", ("targets.lambda_",), beside="Tokens"),
    Parameter("rank", "η", "weight of the ranking loss", ("loss.rank",)),
    Parameter("stop", "ζ", "weight of the stopping loss", ("loss.stop",)),
    Parameter("pool", "M", "candidates", ("retrieval.pool",), True, "Regret"),
    Parameter("max_records", "K_max", "most records", ("search.max_records",), True, "Regret"),
    Parameter("controls", "K⁻", "matched controls", ("matching.controls",), True, "Regret"),
    Parameter(
        "search", "(J, W)", "search budget", ("search.actions", "search.width"), True, "Regret"
    ),
)


def shown(parts: Sequence[Number]) -> str:
    """A value in words.

    >>> shown((8, 4)), shown((0.4,))
    ('(8, 4)', '0.4')
    """
    texts = [f"{part:g}" for part in parts]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One request under one value of one parameter.

    Attributes:
        parameter: field of `SweepConfig`; "study" is the study's own controller, "length" a fixed
            length.
        value, number: the value as text, and its first part.
        is_own: it is the study's own value.
        own_net: J at the value's own β and λ, where these are varied; in `tried` it is at the
            study's.
        regret: J lost against the exact oracle on a reduced pool; None where it is not known.
        tried: what came of the profile.
    """

    parameter: str
    value: str
    number: float
    is_own: bool
    own_net: float | None
    regret: float | None
    tried: Tried
