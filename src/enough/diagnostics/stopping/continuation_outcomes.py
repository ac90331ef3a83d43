"""What becomes of a request that is not allowed to stop: rows, and the four categories.

In: values at a stopped prefix and after going on. Out: a category. They are given in an order of
priority, so every continuation has exactly one (paper: appendix, forced continuation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from enough.config import require_at_least
from enough.diagnostics.tried import Tried

CONTROLLER, RETRIEVER, ORACLE = ORDERS = ("controller", "retriever", "oracle")
BENEFICIAL, REDUNDANT, NOT_WORTH, HARMFUL = CATEGORIES = (
    "beneficial",
    "redundant",
    "cost-not-worth",
    "harmful",
)
ENDED, STOPPED, FORCED = "policy", "stopped", "could not go on"


@dataclass(frozen=True, slots=True)
class ForcedContinuationConfig:
    """How far to go on.

    Attributes:
        requests: reported ones of each task, the first so many; 0 takes all.
        depth: records that are appended at most, one after the other.
        oracle_candidates: the oracle tries so many of the remaining records at every depth, the
            retriever's first ones; 0 tries all.
    """

    requests: int = 0
    depth: int = 3
    oracle_candidates: int = 0

    def __post_init__(self) -> None:
        least = {"requests": 0, "depth": 1, "oracle_candidates": 0}
        require_at_least(self, least, "forced-continuation.")


@dataclass(frozen=True, slots=True)
class ContinuationRow:
    """One request, so many records after it was stopped.

    Attributes:
        order: who chose the records; "policy" at depth 0, which every request has.
        depth: records appended to the stopped prefix.
        category: one of CATEGORIES; at depth 0 whether the policy stopped by itself.
        extra_tokens: of the appended records.
        stopped_records: of the prefix.
        stopped_net, stopped_score: J and the answer's score at the prefix.
        tried: the continuation.
    """

    order: str
    depth: int
    category: str
    extra_tokens: int
    stopped_records: int
    stopped_net: float
    stopped_score: float
    tried: Tried


def category(stopped_net: float, stopped_score: float, net: float, score: float) -> str:
    """Beneficial if J rises; else by whether the answer got better, worse or neither.

    Args:
        stopped_net, stopped_score: J and the score of the answer at the stopped prefix; scores are
            oriented so that higher is better.
        net, score: those of the continuation.
    """
    if net > stopped_net:
        return BENEFICIAL
    if score > stopped_score:
        return NOT_WORTH
    return HARMFUL if score < stopped_score else REDUNDANT


def reached_everywhere(rows: Sequence[ContinuationRow], depth: int) -> set[tuple[str, str]]:
    """(task, request) of prefixes that every order could continue by so many records."""
    reached: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row.depth == depth:
            reached.setdefault((row.tried.task, row.tried.request_id), set()).add(row.order)
    return {key for key, orders in reached.items() if orders >= set(ORDERS)}
