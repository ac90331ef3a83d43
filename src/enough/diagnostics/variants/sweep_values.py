"""Rows of the sweeps by parameter and value, summarised.

In: rows. Out: `SweptValue`s, each beside the study's own controller (quality) and beside the
study's own value of the same parameter (change of J).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from enough.diagnostics.summaries import Summary, summarise
from enough.diagnostics.variants.paired_changes import MEASURES, Judged, change
from enough.diagnostics.variants.sweep_settings import STUDY, SweepRow
from enough.evaluation.intervals import Interval, clustered
from enough.tasks import Task


@dataclass(frozen=True, slots=True)
class SweptValue:
    """One value of a parameter.

    Attributes:
        value: as text.
        is_own: it is the study's own.
        summary: means over requests; J is at the study's β and λ.
        own_net: J at the value's own β and λ, where these are varied.
        regret: J lost against the exact oracle, where it was measured.
        change: of J from the study's own value on the same requests; None for that itself.
    """

    value: str
    is_own: bool
    summary: Summary
    own_net: Interval | None
    regret: Interval | None
    change: Interval | None


def swept_values(
    rows: Sequence[SweepRow], parameter: str, tasks: Mapping[str, Task]
) -> list[SweptValue]:
    """The values of a parameter, in the order of the rows; none if it was not varied."""
    reference = [row.tried for row in rows if row.parameter == STUDY]
    groups: dict[str, list[SweepRow]] = {}
    for row in rows:
        if row.parameter == parameter:
            groups.setdefault(row.value, []).append(row)
    own = next((_judged(some) for some in groups.values() if some[0].is_own), [])
    return [
        SweptValue(
            value=value,
            is_own=some[0].is_own,
            summary=summarise([row.tried for row in some], reference, tasks),
            own_net=_mean([(row.own_net, row.tried.cluster) for row in some]),
            regret=_mean([(row.regret, row.tried.cluster) for row in some]),
            change=None if some[0].is_own else change(_judged(some), own, MEASURES["J"]),
        )
        for value, some in groups.items()
    ]


def _judged(rows: Sequence[SweepRow]) -> list[Judged]:
    return [Judged(row.tried, row.regret) for row in rows]


def _mean(values: Sequence[tuple[float | None, str]]) -> Interval | None:
    known = [(value, user) for value, user in values if value is not None]
    return clustered([value for value, _ in known], [user for _, user in known]) if known else None
