"""One profile of one request in front of the generator: the row that most diagnostics share."""

from __future__ import annotations

from dataclasses import dataclass, replace

OURS = "ENOUGH"
"""What the controller's own choices are called, among the methods of a table."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it.

    Attributes:
        records: ids, in prompt order.
        tokens: what they add to the empty prompt.
        answer: one deterministic answer.
        score: of the answer under the task's leading metric, higher being better.
        empty_score: that of the answer without a profile.
        log_likelihood_gain: g, per token of the reference.
        gain, specificity: ḡ and p̄ in units of the task's scales; None for records that are no
            profile of the request's pool, because nothing is matched to them.
        net: J at the study's operating point; None likewise.
    """

    task: str
    request_id: str
    user: str
    records: tuple[str, ...]
    tokens: int
    answer: str
    reference: str
    score: float
    empty_score: float
    log_likelihood_gain: float
    gain: float | None = None
    specificity: float | None = None
    net: float | None = None

    @property
    def cluster(self) -> str:
        """Whom intervals resample: the user within the task, since logs may share names."""
        return f"{self.task}/{self.user}"

    @property
    def is_harmed(self) -> bool:
        """The answer is worse than without a profile."""
        return self.score < self.empty_score

    def judged(self, gain: float, specificity: float, net: float) -> Tried:
        """The same with its values."""
        return replace(self, gain=gain, specificity=specificity, net=net)
