"""How well can others' records stand in for a user's own? The audit of matched controls.

In: reported requests. Out: for every task the measures of `matching.balance` over the records of
pools and over those that ENOUGH selects, and for every request how many have controls (paper: Table
app-matching, whose coverage is over selected records). Nothing is generated for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.personal.matching_audit_rows import (
    POOL,
    SELECTED,
    MatchingAuditConfig,
    MatchingAuditRow,
)
from enough.diagnostics.personal.matching_audit_section import section
from enough.matching.replacements import PoolMatcher
from enough.retrieval.pools import PooledExample


def measure(lab: Laboratory, config: MatchingAuditConfig) -> list[MatchingAuditRow]:
    """Rows of every task: pools, then selected records; the task's own row comes first."""
    subjects = lab.subjects()
    selected = lab.chosen(lab.policy(), subjects)
    rows: list[MatchingAuditRow] = []
    stages = lab.study.stages
    for done, (name, dataset) in enumerate(lab.study.datasets.items()):
        of_task = [
            (subject.space.case, profile)
            for subject, profile in zip(subjects, selected, strict=True)
            if subject.space.case.example.request.task.name == name
        ]
        if not of_task:
            continue
        pools = [PooledExample(case.example, case.pool) for case, _ in of_task]
        chosen = [
            PooledExample(case.example, tuple(case.pool[place] for place in profile))
            for case, profile in of_task
        ]
        matcher = PoolMatcher(dataset, stages.controls, stages.matching_encoder, stages.matching)
        rows += _audited(name, POOL, pools, matcher)
        rows += _audited(name, SELECTED, chosen, matcher)
        lab.on_step("matching audit", done + 1, len(lab.study.datasets))
    return rows


def _audited(
    task: str, part: str, pooled: Sequence[PooledExample], matcher: PoolMatcher
) -> Iterator[MatchingAuditRow]:
    found = matcher.match(pooled)
    balance = found.balance
    yield MatchingAuditRow(
        task,
        part,
        None,
        None,
        balance.pairs,
        balance.matched,
        balance.rejected,
        balance.compared,
        balance.agreeing,
        tuple(name for name, _ in balance.named),
        tuple(smd for _, smd in balance.named),
        balance.content,
    )
    for one, controls in zip(pooled, found.records, strict=True):
        records, matched = len(controls), sum(map(bool, controls))
        rejected = records - matched
        if rejected and balance.unavailable:  # then it must be asked which of the two it was
            rejected = matcher.match([one]).balance.rejected
        request = one.example.request
        yield MatchingAuditRow(task, part, request.id, request.user, records, matched, rejected)


MATCHING_AUDIT = Diagnostic(
    "matching-audit", MatchingAuditConfig, MatchingAuditRow, measure, section
)
