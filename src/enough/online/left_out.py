"""Why a record is not in the profile: one reason for every record of a history that was not taken.

In: a history, what the rules and the retriever made of it, and the trace of the decisions. Out: one
`LeftOut` for each record outside the profile, in the order of the history.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from enough.data.leakage import LegalHistory
from enough.online.policy import Trace
from enough.protocols import Budget
from enough.records import History, Pool, Record


class Why(StrEnum):
    """The reasons, in the order in which they are looked for."""

    NOT_LEGAL = "not legal"
    NOT_RETRIEVED = "not retrieved"
    DOES_NOT_FIT = "does not fit the window"
    BELOW_STOPPING = "valued below stopping"
    HORIZON = "horizon reached"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that is not in the profile.

    Attributes:
        record: which.
        why: the reason.
        detail: what the reason saw, in words.
        below: how much less than STOP it was worth at the last step, for BELOW_STOPPING.
    """

    record: Record
    why: Why
    detail: str
    below: float | None = None


def left_out(
    history: History, legal: LegalHistory, pool: Pool, budget: Budget, trace: Trace
) -> tuple[LeftOut, ...]:
    """Every record that is not in the profile, once."""
    chosen = {pool[place].record.id for place in trace.profile}
    known = {
        removal.record.id: _Reason(Why.NOT_LEGAL, f"{removal.reason.value}: {removal.detail}")
        for removal in legal.removals
    }
    for place, candidate in enumerate(pool):
        known[candidate.record.id] = _not_taken(place, budget, trace)
    beyond = _Reason(Why.NOT_RETRIEVED, f"not among the retriever's first {len(pool)}")
    return tuple(
        LeftOut(record, *known.get(record.id, beyond))
        for record in history
        if record.id not in chosen
    )


class _Reason(NamedTuple):
    why: Why
    detail: str
    below: float | None = None


def _not_taken(place: int, budget: Budget, trace: Trace) -> _Reason:
    tokens, room = budget.record_tokens[place], budget.max_profile_tokens - trace.tokens
    if tokens > room:
        return _Reason(Why.DOES_NOT_FIT, f"{tokens} tokens, {room} left")
    if trace.steps and trace.steps[-1].taken is None:
        last = trace.steps[-1].values
        below = last.net_stop - float(last.net[place])
        return _Reason(Why.BELOW_STOPPING, f"{below:.3f} less than STOP", below)
    return _Reason(Why.HORIZON, f"at most {budget.max_records} records")
