"""The matching audit on a toy study and on hand-made rows."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from enough.diagnostics.diagnostic import About
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.personal.matching_audit import measure
from enough.diagnostics.personal.matching_audit_rows import (
    POOL,
    SELECTED,
    MatchingAuditConfig,
    MatchingAuditRow,
)
from enough.diagnostics.personal.matching_audit_section import by_chance, section, share
from enough.evaluation.intervals import Interval
from enough.matching.balance import Balance
from enough.matching.replacements import match_pools
from enough.parquet_rows import read_parquet, write_parquet
from enough.retrieval.pools import PooledExample
from enough.tasks import LAMP_TASKS
from enough.teacher.components import TargetConfig
from tests.diagnostics.toy import about

CONFIG = MatchingAuditConfig()
ABOUT = About(dict(LAMP_TASKS), TargetConfig(), 3, is_made_up=True)


def test_the_audit_is_the_matchers_own(lab: Laboratory, tmp_path: Path) -> None:
    rows = measure(lab, CONFIG)
    stages = lab.study.stages
    chosen = lab.chosen(lab.policy(), lab.subjects())
    for name, dataset in lab.study.datasets.items():
        cases = [s.space.case for s in lab.subjects() if s.space.case.name.startswith(name)]
        pools = [PooledExample(case.example, case.pool) for case in cases]
        audited = match_pools(dataset, pools, stages.controls, stages.encoder, stages.matching)
        (whole,) = [r for r in rows if (r.task, r.part, r.user) == (name, POOL, None)]
        assert whole.balance == audited.balance
        of_requests = [r for r in rows if r.task == name and r.part == POOL and r.user]
        assert [r.matched for r in of_requests] == [sum(map(bool, case.controls)) for case in cases]
        assert sum(r.records for r in of_requests) == whole.records
    selected = [r for r in rows if r.part == SELECTED and r.user]
    assert [r.records for r in selected] == list(map(len, chosen))

    path = tmp_path / "rows.parquet"
    write_parquet(path, MatchingAuditRow, rows, {})
    assert read_parquet(path, MatchingAuditRow) == rows
    shown = section(rows, CONFIG, about(lab.study))
    assert [line[:2] for line in shown.panels[0].table.rows] == [
        (part, task) for part in (POOL, SELECTED) for task in ("LaMP-4", "LaMP-7", "all")
    ]


def of_request(user: str, records: int, matched: int, rejected: int) -> MatchingAuditRow:
    return MatchingAuditRow("LaMP-3", POOL, f"q-{user}", user, records, matched, rejected)


ROWS = [
    MatchingAuditRow(
        "LaMP-3", POOL, None, None, 10, 6, 3, 12, 3, ("log length", "time"), (-0.2, 0.04), (0.06,)
    ),
    of_request("ann", 4, 4, 0),
    of_request("ben", 6, 2, 3),
    MatchingAuditRow("LaMP-3", SELECTED, None, None, 0, 0, 0),
]


def test_shares_are_over_records_and_drawn_by_user() -> None:
    # Draws of two users: both Ann (4/4), one of each (6/10), both Ben (2/6).
    assert share(ROWS[:3], "matched") == Interval(0.6, 2 / 6, 1.0)
    assert share(ROWS[:3], "rejected") == Interval(0.3, 0.0, 0.5)
    assert share(ROWS[3:], "matched") is None


def test_draws_without_a_record_say_nothing() -> None:
    empty = of_request("cat", 0, 0, 0)
    assert share([of_request("ann", 4, 1, 0), empty], "matched") == Interval(0.25, 0.25, 0.25)


def test_the_table_and_the_answer() -> None:
    shown = section(ROWS, CONFIG, ABOUT)
    pool, selected = shown.panels[0].table.rows
    assert pool[:3] == (POOL, "LaMP-3", 10)
    missing, exact, mean_smd, p90_smd, chance = pool[5:]
    assert (missing, exact) == (0.1, 0.25)
    assert mean_smd == pytest.approx(0.1)
    assert p90_smd == pytest.approx(0.172)  # four fifths of the way from 0.06 to 0.2
    assert chance == pytest.approx(math.sqrt(2 / math.pi * (1 / 6 + 1 / 12)))
    assert selected == (SELECTED, "LaMP-3", 0, *[None] * 7)
    assert "Of 10 pool records 60% have all their controls [33%, 100%]" in shown.answer
    assert "0.100, no more than 0.399, which chance alone gives so few records." in shown.answer
    assert "There are no selected records to audit." in shown.answer
    (chart,) = shown.panels[0].charts
    assert [dot.label for dot in chart.dots] == [  # type: ignore[union-attr]
        "LaMP-3, log length",
        "LaMP-3, time",
    ]


@pytest.mark.parametrize(
    ("smd", "said"), [(0.05, "below the customary 0.1"), (0.5, "above the customary 0.1 and the")]
)
def test_a_difference_is_held_against_custom_and_chance(smd: float, said: str) -> None:
    row = MatchingAuditRow(
        "LaMP-3", POOL, None, None, 10, 6, 3, 12, 3, ("log length", "time"), (-smd, smd), ()
    )
    assert said in section([row, *ROWS[1:]], CONFIG, ABOUT).answer


def test_chance_of_several_tasks_weighs_covariates_alike() -> None:
    one = Balance(4, 4, 0, 0, named=(("time", 0.5),))
    other = Balance(16, 16, 0, 0, named=(("time", 0.5), ("relevance", 0.5), ("log length", 0.5)))
    unknown = Balance(4, 1, 0, 0)
    single = math.sqrt(2 / math.pi * 2 / 4)
    assert by_chance([one, unknown]) == pytest.approx(single)
    assert by_chance([one, other]) == pytest.approx((single + 3 * single / 2) / 4)
    assert by_chance([unknown]) is None


def test_a_difference_without_a_spread_is_not_shown() -> None:
    endless = MatchingAuditRow(
        "LaMP-3", POOL, None, None, 1, 1, 0, 0, 0, ("time",), (math.inf,), ()
    )
    shown = section([endless, of_request("ann", 1, 1, 0)], CONFIG, ABOUT)
    assert shown.panels[0].table.rows[0][-3:] == (None, None, None)
    assert shown.panels[0].charts == ()
    assert "cannot be told" in shown.answer
