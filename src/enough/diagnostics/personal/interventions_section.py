"""What the specificity interventions show (paper: Table specificity-interventions)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from enough.diagnostics.diagnostic import About
from enough.diagnostics.personal.intervention_rows import (
    CALLED_OTHER,
    COMPARED_WITH,
    INTERVENTIONS_IN_ORDER,
    MATCHED,
    SHUFFLE,
    TARGET,
    InterventionRow,
    InterventionsConfig,
)
from enough.diagnostics.personal.left_out import left_out_sentence
from enough.diagnostics.sections import Dot, DotChart, Format, Panel, Section, Value, table
from enough.diagnostics.summaries import summarise
from enough.diagnostics.told_apart import FEWEST_USERS, differs
from enough.evaluation.intervals import Interval, clustered

PAPER = (
    ("Target-user profile", 100.0, 0.041, 0.001, 0.002),
    ("Matched other user", 99.1, 0.024, -0.018, 0.041),
    ("Action shuffle", 98.7, 0.018, -0.025, 0.039),
    ("Owner permutation", 98.6, 0.011, -0.029, 0.044),
    ("Random other user", 98.5, 0.012, -0.031, 0.180),
    ("Whole-profile swap", 98.0, 0.005, -0.037, 0.191),
)
_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Intervention", "text"),
    ("Quality", "quality"),
    ("Log-likelihood gain", "signed"),
    ("Δ", "signed"),
    ("Match SMD", "number"),
    ("Harm", "share"),
)
_PAPER_COLUMNS = _COLUMNS[:-1]

Rows = Mapping[str, Mapping[tuple[str, str], InterventionRow]]
"""Intervention -> (task, request) -> row."""


def section(rows: Sequence[InterventionRow], config: InterventionsConfig, about: About) -> Section:
    """Quality, likelihood and balance by intervention, all on the same requests."""
    kept: dict[str, dict[tuple[str, str], InterventionRow]] = {}
    for row in rows:
        if not row.left_out:
            kept.setdefault(row.intervention, {})[row.tried.task, row.tried.request_id] = row
    left_out = left_out_sentence(row.left_out for row in rows)
    changes = {name: change(kept, name) for name in COMPARED_WITH} if kept else {}
    return Section(
        name="interventions",
        title="Specificity interventions",
        question="Is the gain personal, or would anybody's records do?",
        answer=_answer(kept, changes, left_out),
        panels=(
            Panel(
                _caption(kept, left_out, config),
                table(_COLUMNS, _lines(kept, changes, about)),
                (_chart(changes),) if changes else (),
            ),
        ),
        paper=(
            Panel(
                "Table specificity-interventions: ENOUGH's profiles, Qwen3.5-9B, six LaMP tasks.",
                table(_PAPER_COLUMNS, PAPER),
                (
                    DotChart(
                        "Likelihood lost",
                        "log-likelihood per reference token, against the target user",
                        tuple(Dot(name, delta) for name, _, _, delta, _ in PAPER),
                        "signed",
                    ),
                ),
            ),
        ),
        notes=_notes(kept),
    )


def change(rows: Rows, name: str) -> Interval:
    """Log-likelihood gain less that of what the intervention is compared with, request by request.

    Users are drawn with replacement.
    """
    others = rows[COMPARED_WITH[name]]
    differences = [
        row.tried.log_likelihood_gain - others[key].tried.log_likelihood_gain
        for key, row in rows[name].items()
    ]
    return clustered(differences, [row.tried.cluster for row in rows[name].values()])


def match_smd(rows: Sequence[InterventionRow]) -> float | None:
    """Mean over the covariates of all tasks that have any; None where none has."""
    of_task = {row.tried.task: row for row in rows}
    known = [(row.covariates, row.mean_smd) for row in of_task.values() if row.mean_smd is not None]
    total = sum(count for count, _ in known)
    return sum(count * smd for count, smd in known) / total if total else None


def _lines(rows: Rows, changes: Mapping[str, Interval], about: About) -> list[tuple[Value, ...]]:
    lines: list[tuple[Value, ...]] = []
    reference = [row.tried for row in rows.get(TARGET, {}).values()]
    for name in INTERVENTIONS_IN_ORDER if rows else ():
        of = list(rows[name].values())
        one = summarise([row.tried for row in of], reference, about.tasks)
        gain, smd = one.log_likelihood_gain, match_smd(of)
        lines.append((name, one.quality, gain, changes.get(name), smd, one.harm))
    return lines


def _chart(changes: Mapping[str, Interval]) -> DotChart:
    return DotChart(
        "Likelihood lost",
        "log-likelihood per reference token, against what it is compared with",
        tuple(Dot(name, one.mean, one.low, one.high) for name, one in changes.items()),
        "signed",
    )


def _caption(rows: Rows, left_out: str, config: InterventionsConfig) -> str:
    whose = "ENOUGH's" if config.profile == "enough" else f"The retriever's first {config.length}"
    compared = len(rows.get(TARGET, ()))
    return f"{whose} records of {compared} requests, the same under every intervention. {left_out}"


def _answer(rows: Rows, changes: Mapping[str, Interval], left_out: str) -> str:
    if not rows:
        return f"There is no request to compare. {left_out}"
    users = len({row.tried.cluster for row in rows[TARGET].values()})
    matched, permuted = changes[MATCHED], changes[CALLED_OTHER]
    said = (
        f"With matched records of others in place of the user's own the log-likelihood per token "
        f"changes by {_shown(matched)}, with permuted ownership by {_shown(permuted)}"
    )
    if users < FEWEST_USERS:
        return f"{said}; requests: {len(rows[TARGET])}, users: {users}, too few to tell apart."
    if differs(permuted, users):
        return f"{said}: where there should be no difference there is one; trust neither."
    if not differs(matched, users):
        return f"{said}: whether the gain is personal cannot be told."
    if matched.mean < 0:
        return f"{said}: part of the gain is the user's own."
    return f"{said}: others' records serve better than the user's own."


def _shown(one: Interval) -> str:
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"


def _notes(rows: Rows) -> tuple[str, ...]:
    kept = sum(row.unchanged for row in rows.get(SHUFFLE, {}).values())
    records = sum(len(row.tried.records) for row in rows.get(SHUFFLE, {}).values())
    return (
        "Quality: official metrics, oriented and divided by those of the target user's profiles, "
        "times 100. Gain: over the empty profile, per token of the reference. Harm: the answer is "
        "worse than without a profile. Intervals: 95%, users drawn with replacement.",
        "Δ: the gain less that of the target user's profile, request by request. Matched other: "
        "every record replaced by one of its matched controls, drawn at random. Random other: "
        "legal records of users drawn at random from the same split. Whole-profile swap: as many "
        "records of one such user, in the order of the log.",
        "Action shuffle: contexts stay, actions are exchanged within the profile, or for another "
        f"of the same user's where that changes nothing; {kept} of {records} records kept theirs "
        "because the user has no other.",
        "Owner permutation, a negative control: of each record and its controls one is drawn and "
        "called the user's own, another is drawn and called its replacement; Δ is the second "
        "profile less the first. Contents are fixed and labels are chance, so the truth is zero: a "
        "difference would be made by the comparison itself (or, once in twenty, by chance).",
        "Match SMD: mean absolute standardised mean difference over matching covariates, between "
        "records and what replaces them. Actions are no covariates, so a shuffle has 0. With few "
        "records it is above 0 by chance alone.",
    )
