"""Settings and rows of the efficiency diagnostic: one measured number each, in long form."""

from __future__ import annotations

from dataclasses import dataclass

from enough.config import require_at_least
from enough.diagnostics.transfer.contestants import OURS, Contestant
from enough.errors import ConfigError

ONLINE, DECISION, OFFLINE, MACHINE = "online", "decision", "offline", "machine"
PARTS = ("retrieval", "selection", "generation", "other")
"""Milliseconds of one request; their sum is end to end."""


@dataclass(frozen=True, slots=True)
class EfficiencyConfig:
    """What is timed.

    Attributes:
        methods: on the same requests, one prompt at a time. One that learns and was not trained is
            trained first.
        requests: timed per task; 0 takes all reported ones.
        rounds: over all requests in which decisions are timed; the quietest counts.
        timed_requests: labelled requests per task whose teacher calls are made again, timed.
        retrain_lambda: train a controller for another λ, too, to know what that takes.
    """

    methods: tuple[Contestant, ...] = (Contestant("fixed", 5), Contestant(OURS))
    requests: int = 20
    rounds: int = 5
    timed_requests: int = 2
    retrain_lambda: bool = False

    def __post_init__(self) -> None:
        least = {"requests": 0, "rounds": 1, "timed_requests": 1}
        require_at_least(self, least, "efficiency.")
        titles = [one.title for one in self.methods]
        if not titles or len(set(titles)) < len(titles):
            raise ConfigError("efficiency.methods must name at least one, each once")


@dataclass(frozen=True, slots=True)
class EfficiencyRow:
    """One number.

    Attributes:
        kind: ONLINE and DECISION are per request, OFFLINE and MACHINE of the whole study.
        method: who was timed; "" where it is nobody in particular.
        task, request_id, user: of the request; "" where there is none.
        measure: what was measured.
        value: milliseconds online; None where it is not known, or is a text.
        text: of the machine.
    """

    kind: str
    measure: str
    value: float | None
    method: str = ""
    task: str = ""
    request_id: str = ""
    user: str = ""
    text: str = ""
