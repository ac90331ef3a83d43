"""Bounds that know the reference: the best single record, and the greedily best profile.

In: a request with its reference. Out: the profile under which the generator finds the reference
likeliest, record by record, and the answer to it. The next record is the one that raises the mean
log-likelihood most; without a rise of more than `min_gain` there is none, so the profile is never
worse than the empty one. Ties go to the shorter profile, then to the retriever's order.
"""

from __future__ import annotations

from dataclasses import dataclass

from enough.baselines.tools import Tools
from enough.config import require_at_least
from enough.errors import ConfigError
from enough.protocols import Answered, Asked, ReferenceAwareMethod
from enough.records import Example, Record, Selection


@dataclass(frozen=True, slots=True)
class RecordOracleConfig:
    """The best single record, or none."""

    def build(self, tools: Tools) -> ReferenceAwareMethod:
        """Score every record, then one call."""
        return GreedyOracle(tools, k=1, min_gain=0.0)


@dataclass(frozen=True, slots=True)
class GreedyOracleConfig:
    """The best next record as long as it helps.

    Attributes:
        k: the most records; None takes K_max.
        min_gain: a record has to raise the mean log-likelihood by more than this.
    """

    k: int | None = None
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        require_at_least(self, {"min_gain": 0})
        if self.k is not None and self.k < 1:
            raise ConfigError(f"k must be at least 1, not {self.k}")

    def build(self, tools: Tools) -> ReferenceAwareMethod:
        """Score and append, then one call."""
        return GreedyOracle(tools, tools.max_records if self.k is None else self.k, self.min_gain)


class GreedyOracle:
    """Implements `protocols.ReferenceAwareMethod`."""

    def __init__(self, tools: Tools, k: int, min_gain: float) -> None:
        self._tools = tools
        self._k = k
        self._min_gain = min_gain

    def answer_knowing(self, asked: Asked, example: Example) -> Answered:
        """The answer under the best profile found."""
        chosen = self.choose(asked, example)
        return self._tools.answer(asked.request, chosen.records, chosen.reason)

    def choose(self, asked: Asked, example: Example) -> Selection:
        """Records in the order in which they were appended."""
        room = self._room(asked, example)
        if room < 0:  # so no profile can be judged, not even the empty one
            return Selection((), "the reference does not fit the window")
        cost = dict(zip((c.record for c in asked.pool), asked.budget.record_tokens, strict=True))
        chosen: tuple[Record, ...] = ()
        (best,) = self._scores(example, [chosen])
        while len(chosen) < min(self._k, asked.budget.max_records):
            left = [r for r, tokens in cost.items() if r not in chosen and tokens <= room]
            if not left:
                return Selection(chosen, "nothing more fits")
            scores = self._scores(example, [(*chosen, record) for record in left])
            place = scores.index(max(scores))
            if not scores[place] - best > self._min_gain:
                return Selection(chosen, "no further record raises the likelihood")
            best, chosen = scores[place], (*chosen, left[place])
            room -= cost[left[place]]
        return Selection(chosen, "as many records as are allowed")

    def _room(self, asked: Asked, example: Example) -> int:
        """What the budget leaves for records where a reference is longer than an answer may be."""
        reference = len(self._tools.prompter.reference(example))
        longer = max(0, reference - asked.request.task.max_answer_tokens)
        return asked.budget.max_profile_tokens - longer

    def _scores(self, example: Example, profiles: list[tuple[Record, ...]]) -> list[float]:
        sequences = [self._tools.prompter.sequence(example, profile) for profile in profiles]
        scores: list[float] = self._tools.generator.score(sequences).tolist()
        return scores
