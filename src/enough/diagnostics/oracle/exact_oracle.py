"""How close does ENOUGH come to the best profile there is? Every profile of small pools is scored.

In: reported requests with pools reduced to M' and K'. Out: a row for each of them and every
selector: regret, ε-sufficiency, excess tokens, stop agreement (paper: Tables oracle and
app-oracle-task). Beside ENOUGH stand a teacher with the labels' J and W and beams to the horizon,
fixed lengths, and controllers trained on other kinds of targets.
"""

from __future__ import annotations

from dataclasses import replace

from enough.baselines.fixed import FixedLength
from enough.diagnostics.diagnostic import Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.oracle.exact_oracle_rows import (
    ONE_SLOT,
    ExactOracleConfig,
    ExactOracleRow,
    fixed_name,
    trained_name,
)
from enough.diagnostics.oracle.exact_oracle_section import section
from enough.diagnostics.oracle.exact_requests import exact_of, exact_requests, oracle_config
from enough.diagnostics.tried import OURS
from enough.evaluation.sufficiency import judge_all
from enough.protocols import Selector
from enough.teacher.backup import Kind


def measure(lab: Laboratory, config: ExactOracleConfig) -> list[ExactOracleRow]:
    """Rows of the oracle, of the teachers that know the reference, and of all selectors."""
    oracle = oracle_config(lab, config.pool, config.max_records, config.epsilon)
    selectors = _selectors(lab, config, oracle.max_records)
    # Where the exact values look at one slot, too, the two bounded teachers are the same.
    left_out = {ONE_SLOT} if oracle.slots == "one" else set()
    rows = []
    for one in exact_requests(lab, config.pool, config.max_records, config.requests):
        scale = lab.study.scales[one.tree.of.task]
        exact = exact_of(lab, one, config.epsilon)
        judged = judge_all(exact, one.subject, oracle, scale, selectors)
        rows += [
            ExactOracleRow(one.tree.of.user, row) for row in judged if row.selector not in left_out
        ]
    return rows


def _selectors(lab: Laboratory, config: ExactOracleConfig, horizon: int) -> dict[str, Selector]:
    found: dict[str, Selector] = {OURS: lab.policy()}
    for kind in config.kinds:
        if kind != lab.study.trained.report.get("kind"):
            found[trained_name(kind)] = _trained_on(lab, kind)
    lengths = range(min(horizon, config.pool) + 1)
    return found | {fixed_name(length): FixedLength(length) for length in lengths}


def _trained_on(lab: Laboratory, kind: Kind) -> Selector:
    """A controller of the same labels, beginning and operating point."""
    study = lab.study
    train = replace(study.config.train, kind=kind, chooser=None, targets=study.point)
    return lab.policy(study.shop.train(study.labels, f"variants/targets-{kind}", train))


EXACT_ORACLE = Diagnostic("exact-oracle", ExactOracleConfig, ExactOracleRow, measure, section)
