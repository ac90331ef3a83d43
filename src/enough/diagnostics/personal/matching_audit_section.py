"""What the matching audit shows (paper: Table app-matching)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from enough.diagnostics.diagnostic import About
from enough.diagnostics.personal.matching_audit_rows import (
    POOL,
    SELECTED,
    MatchingAuditConfig,
    MatchingAuditRow,
)
from enough.diagnostics.sections import Dot, DotChart, Format, Panel, Section, Value, table
from enough.evaluation.intervals import Estimate, Interval, Resampling, estimate
from enough.matching.balance import Balance, together

PAPER = (("K⁻ = 3, calipers", 0.875, 0.081, 0.311, 0.040, 0.083),)
_USUAL = 0.1  # differences below it are customarily called balanced
_ALL = "all"


def section(rows: Sequence[MatchingAuditRow], config: MatchingAuditConfig, about: About) -> Section:
    """Coverage and balance by task and for all."""
    tasks = list(dict.fromkeys(row.task for row in rows))
    parts = {part: [row for row in rows if row.part == part] for part in (POOL, SELECTED)}
    lines = [
        _line(part, task, [row for row in of if task in (_ALL, row.task)])
        for part, of in parts.items()
        for task in (*tasks, *([_ALL] if len(tasks) > 1 else []))
    ]
    charts = tuple(chart for part, of in parts.items() if (chart := _chart(part, of)).dots)
    return Section(
        name="matching-audit",
        title="Matching audit",
        question="Can other users' records stand in for a user's own?",
        answer=" ".join(_answer(part, of) for part, of in parts.items()),
        panels=(
            Panel(
                "Matched controls of the reported requests: of all records of their pools, and of "
                "those that ENOUGH selects.",
                table(_COLUMNS, lines),
                charts,
            ),
        ),
        paper=(
            Panel(
                "Table app-matching: selected records, pooled over six LaMP tasks.",
                table(_PAPER_COLUMNS, PAPER),
            ),
        ),
        notes=(
            "Coverage: records with all their controls. Rejected: enough legal records of others, "
            "but too few within the calipers. Missing: too few legal records of others. Exact: "
            "controls in all strata (quintiles) of their record, which are drawn from the records "
            "of the same line. SMD: standardised mean difference, the user's own less the "
            "controls', over all covariates; mean and 90th percentile of absolute values.",
            "By chance: the mean absolute SMD that as many unrelated records and controls would "
            "have; more where requests share records. A task with one matched record has no SMD. "
            "Intervals: 95%, users drawn with replacement.",
        ),
    )


_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Records", "text"),
    ("Task", "text"),
    ("Number", "count"),
    ("Coverage", "share"),
    ("Rejected", "share"),
    ("Missing", "share"),
    ("Exact", "share"),
    ("Mean SMD", "number"),
    ("p90 SMD", "number"),
    ("By chance", "number"),
)
_PAPER_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Audit", "text"),
    ("Coverage", "share"),
    ("Rejected", "share"),
    ("Exact", "share"),
    ("Mean SMD", "number"),
    ("p90 SMD", "number"),
)


def _line(part: str, task: str, rows: Sequence[MatchingAuditRow]) -> tuple[Value, ...]:
    whole = _whole(rows)
    return (
        part,
        task,
        whole.pairs,
        share(rows, "matched"),
        share(rows, "rejected"),
        whole.missing,
        whole.exact,
        whole.mean_smd,
        whole.p90_smd,
        by_chance([row.balance for row in rows if row.request_id is None]),
    )


def share(rows: Sequence[MatchingAuditRow], count: str) -> Interval | None:
    """A count per record over all requests, users drawn with replacement; None without records."""
    requests = [row for row in rows if row.user is not None]
    if not sum(row.records for row in requests):
        return None
    resampling = Resampling([f"{row.task}/{row.user}" for row in requests])
    parts = ([float(getattr(row, count)), float(row.records)] for row in requests)
    of = estimate_ratio(list(parts), resampling)
    return of.interval


def estimate_ratio(parts: Sequence[Sequence[float]], resampling: Resampling) -> Estimate:
    """Sum of the first parts over the sum of the second; draws without any are left out."""
    values = np.array(parts, np.float64)  # [n, 2]
    found = estimate(
        values,
        resampling,
        lambda means: np.divide(
            means[..., 0],
            means[..., 1],
            out=np.full(means.shape[:-1], math.nan),
            where=means[..., 1] > 0,
        ),
    )
    return Estimate(found.observed, found.draws[~np.isnan(found.draws)])


def by_chance(balances: Sequence[Balance]) -> float | None:
    """The mean absolute SMD of unrelated records and controls, as many as there are.

    Means of n records and of n·K⁻ controls from one distribution differ by a normal variable of
    variance 1/n + 1/(n·K⁻) spreads, whose absolute value is √(2/π) of its deviation on average.
    """
    known = [one for one in balances if one.mean_smd is not None]
    covariates = [len(one.named) + len(one.content) for one in known]
    sizes = []
    for one in known:
        controls = one.compared or one.matched
        sizes.append(math.sqrt(2 / math.pi * (1 / one.matched + 1 / controls)))
    return float(np.average(sizes, weights=covariates)) if known else None


def _whole(rows: Sequence[MatchingAuditRow]) -> Balance:
    return together(row.balance for row in rows if row.request_id is None)


def _chart(part: str, rows: Sequence[MatchingAuditRow]) -> DotChart:
    of_tasks = [row for row in rows if row.request_id is None]
    dots = (Dot(f"{row.task}, {name}", smd) for row in of_tasks for name, smd in row.balance.named)
    x = "standardised mean difference, own less controls'"
    return DotChart(f"Balance, {part} records", x, tuple(dots), "signed")


def _answer(part: str, rows: Sequence[MatchingAuditRow]) -> str:
    whole, coverage = _whole(rows), share(rows, "matched")
    if coverage is None:
        return f"There are no {part} records to audit."
    said = (
        f"Of {whole.pairs} {part} records {coverage.mean:.0%} have all their controls "
        f"[{coverage.low:.0%}, {coverage.high:.0%}]"
    )
    smd = whole.mean_smd
    chance = by_chance([row.balance for row in rows if row.request_id is None])
    if smd is None or chance is None:
        return f"{said}; how well they match cannot be told."
    said = f"{said}; the mean absolute difference is {smd:.3f}"
    if smd < _USUAL:
        return f"{said}, below the customary {_USUAL}."
    if smd <= chance:
        return f"{said}, no more than {chance:.3f}, which chance alone gives so few records."
    return f"{said}, above the customary {_USUAL} and the {chance:.3f} that chance alone gives."
