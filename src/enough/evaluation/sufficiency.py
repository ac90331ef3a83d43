"""How close a selector comes to the minimal sufficient profile, where the exact one is known.

In: the exact values of a request and a profile, or anything that selects one. Out: one row per
request and selector; tables and the curve over ε are derived from rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from enough.baselines.fixed import FixedLength
from enough.prompts.profile_sequences import Profile
from enough.protocols import Selector
from enough.teacher.components import Scale
from enough.teacher.oracle import Exact, bounded_choice, greedy
from enough.teacher.oracle_config import OracleConfig
from enough.teacher.supervision import Subject

EPSILONS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
FIXED: Mapping[str, Selector] = {
    "empty": FixedLength(0),
    **{f"fixed k={k}": FixedLength(k) for k in (1, 2, 3, 4)},
}


@dataclass(frozen=True, slots=True)
class SufficiencyRow:
    """One selector's profile of one request, against the exact tree.

    A decision is a state the selector came through at which it could have gone on: every prefix of
    its profile, and the profile itself unless nothing more was feasible.

    Attributes:
        profile: places in the reduced pool.
        tokens: what it adds to the prompt.
        regret: J* − J(S).
        utility_regret: U* − U(S).
        is_sufficient: U(S) ≥ U* − ε  [msp].
        excess_tokens: tokens above those of the minimal sufficient profile, never below 0: a
            profile that saves tokens by being insufficient gets no credit for it.
        decisions: how many states.
        agreements: at how many of them to stop or to go on was what the exact values say: STOP if
            Q*(s, STOP) ≥ Q*(s, d) for every d.
        continues: at how many of them they say to go on; what never stopping would score.
    """

    task: str
    request_id: str
    selector: str
    profile: Profile
    tokens: int
    regret: float
    utility_regret: float
    is_sufficient: bool
    excess_tokens: int
    decisions: int
    agreements: int
    continues: int


@dataclass(frozen=True, slots=True)
class SufficiencySummary:
    """Means over requests for one selector; the last two are shares of decisions, if any."""

    selector: str
    task: str
    requests: int
    records: float
    tokens: float
    regret: float
    utility_regret: float
    sufficient: float
    excess_tokens: float
    stop_agreement: float | None
    always_continue: float | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Share of requests for which a selector is ε-sufficient."""

    selector: str
    epsilon: float
    sufficient: float


def judge(exact: Exact, selector: str, profile: Profile) -> SufficiencyRow:
    """The row of a profile that the named selector chose.

    Raises:
        ValueError: if it is no legal profile of the reduced pool.
    """
    if profile not in exact.node_of:
        raise ValueError(f"{selector} chose {profile}, which is no profile of the exact tree")
    of, chosen = exact.tree.of, exact.node_of[profile]
    minimal = exact.tree.profiles[exact.minimal]
    path = [exact.node_of[profile[:length]] for length in range(len(profile) + 1)]
    states = [node for node in path if np.any(exact.tree.parents == node)]
    goes_on = [bool(exact.leaf[node] != node) for node in states]
    tokens = _tokens(of.record_tokens, profile)
    lacking = float(exact.utility.max() - exact.utility[chosen])
    return SufficiencyRow(
        task=of.task,
        request_id=of.request,
        selector=selector,
        profile=profile,
        tokens=tokens,
        regret=float(exact.net.max() - exact.net[chosen]),
        utility_regret=lacking,
        is_sufficient=lacking <= exact.epsilon,
        excess_tokens=max(0, tokens - _tokens(of.record_tokens, minimal)),
        decisions=len(states),
        agreements=sum((s != chosen) == on for s, on in zip(states, goes_on, strict=True)),
        continues=sum(goes_on),
    )


def selected_profile(selector: Selector, subject: Subject) -> Profile:
    """What a selector takes of the reduced pool, as places in it."""
    case, budget = subject.space.case, subject.space.budget
    place = {candidate.record.id: i for i, candidate in enumerate(case.pool)}
    selection = selector.select(case.example.request, case.pool, budget)
    return tuple(place[record.id] for record in selection.records)


def judge_all(
    exact: Exact,
    subject: Subject,
    config: OracleConfig,
    scale: Scale,
    selectors: Mapping[str, Selector] = FIXED,
) -> list[SufficiencyRow]:
    """Rows of the oracle, of what the reference-knowing teachers choose, and of the selectors."""
    profiles = exact.tree.profiles
    chosen = {
        "exact oracle": profiles[exact.best],
        "minimal sufficient": profiles[exact.minimal],
        "bounded teacher": bounded_choice(
            exact, subject, config.bounded(config.slots), scale, config.targets
        ),
        "bounded, one slot": bounded_choice(
            exact, subject, config.bounded("one"), scale, config.targets
        ),
        "myopic": profiles[greedy(exact, exact.net)],
    }
    chosen |= {name: selected_profile(one, subject) for name, one in selectors.items()}
    return [judge(exact, name, profile) for name, profile in chosen.items()]


def summarise(rows: Sequence[SufficiencyRow], task: str | None = None) -> list[SufficiencySummary]:
    """One line per selector, in the order of the rows; of all tasks together, or of one."""
    chosen = [row for row in rows if task in (None, row.task)]
    return [_summary(task or "all", some) for some in _by_selector(chosen).values()]


def sufficiency_curve(
    rows: Sequence[SufficiencyRow], epsilons: Sequence[float] = EPSILONS
) -> list[CurvePoint]:
    """ε-sufficiency of every selector for several ε."""
    return [
        CurvePoint(name, epsilon, _mean(row.utility_regret <= epsilon for row in some))
        for name, some in _by_selector(rows).items()
        for epsilon in epsilons
    ]


def _by_selector(rows: Sequence[SufficiencyRow]) -> dict[str, list[SufficiencyRow]]:
    groups: dict[str, list[SufficiencyRow]] = {}
    for row in rows:
        groups.setdefault(row.selector, []).append(row)
    return groups


def _summary(task: str, rows: Sequence[SufficiencyRow]) -> SufficiencySummary:
    decisions = sum(row.decisions for row in rows)
    return SufficiencySummary(
        selector=rows[0].selector,
        task=task,
        requests=len(rows),
        records=_mean(len(row.profile) for row in rows),
        tokens=_mean(row.tokens for row in rows),
        regret=_mean(row.regret for row in rows),
        utility_regret=_mean(row.utility_regret for row in rows),
        sufficient=_mean(row.is_sufficient for row in rows),
        excess_tokens=_mean(row.excess_tokens for row in rows),
        stop_agreement=sum(row.agreements for row in rows) / decisions if decisions else None,
        always_continue=sum(row.continues for row in rows) / decisions if decisions else None,
    )


def _tokens(record_tokens: Sequence[int], profile: Profile) -> int:
    return sum(record_tokens[place] for place in profile)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
