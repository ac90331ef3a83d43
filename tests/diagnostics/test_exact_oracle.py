"""The exact oracle: which requests, what a section makes of rows by hand, a toy study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.oracle.exact_oracle import EXACT_ORACLE, measure
from enough.diagnostics.oracle.exact_oracle_measures import share_of_decisions
from enough.diagnostics.oracle.exact_oracle_rows import ExactOracleConfig, ExactOracleRow
from enough.diagnostics.oracle.exact_oracle_section import section
from enough.diagnostics.oracle.exact_requests import (
    exact_of,
    exact_requests,
    oracle_config,
    regrets,
)
from enough.diagnostics.sections import LineChart
from enough.diagnostics.tried import OURS
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.evaluation.sufficiency import SufficiencyRow
from enough.parquet_rows import read_parquet, write_parquet
from tests.diagnostics.hand_made import TASK, about_one_task
from tests.diagnostics.toy import about, toy_laboratory

SMALL = ExactOracleConfig(pool=3, max_records=2, requests=2)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return toy_laboratory(tmp_path_factory.mktemp("toy"), slots="one")


def row(selector: str, user: int, **values: Any) -> ExactOracleRow:
    plain: dict[str, Any] = {
        "task": TASK,
        "request_id": f"q{user}",
        "selector": selector,
        "profile": (0,),
        "tokens": 100,
        "regret": 0.0,
        "utility_regret": 0.0,
        "is_sufficient": True,
        "excess_tokens": 0,
        "decisions": 2,
        "agreements": 2,
        "continues": 1,
    }
    return ExactOracleRow(f"u{user}", SufficiencyRow(**(plain | values)))


def hand_made(users: int) -> list[ExactOracleRow]:
    """ENOUGH loses .25 everywhere and lacks .2 of utility, fixed k=1 loses 1, the teacher 0."""
    rows = []
    for user in range(users):
        rows += [
            row("bounded teacher", user),
            row(OURS, user, regret=0.25, utility_regret=0.2, is_sufficient=False, agreements=1),
            row("fixed k=0", user, regret=3.0, profile=()),
            row("fixed k=1", user, regret=1.0, utility_regret=0.4, is_sufficient=False),
        ]
    return rows


def test_a_share_of_decisions_counts_decisions_not_requests() -> None:
    # 1 of 1 and 1 of 3: half of the four decisions, although the mean of the shares is 2/3.
    rows = [
        row(OURS, 1, decisions=1, agreements=1),
        row(OURS, 2, decisions=3, agreements=1),
    ]
    found = share_of_decisions(rows, lambda one: one.found.agreements)
    assert found is not None
    assert found.mean == 0.5
    assert (found.low, found.high) == pytest.approx((1 / 3, 1))
    assert share_of_decisions([row(OURS, 1, decisions=0)], lambda one: 0) is None


def test_a_user_without_a_decision_does_not_break_the_interval() -> None:
    rows = [row(OURS, 1, decisions=0, agreements=0), row(OURS, 2, decisions=2, agreements=1)]
    found = share_of_decisions(rows, lambda one: one.found.agreements)
    assert found == Interval(0.5, 0.5, 0.5)


def test_the_section_by_hand() -> None:
    shown = section(hand_made(6), ExactOracleConfig(epsilons=(0.0, 0.3)), about_one_task())
    pooled, by_task, curve = shown.panels
    line = pooled.table.rows[1]
    quarter, half = Interval(0.25, 0.25, 0.25), Interval(0.5, 0.5, 0.5)
    assert line[:2] == (OURS, quarter)
    assert line[3] == Interval(0, 0, 0)
    assert line[5:] == (half, half, 1.0)
    assert by_task.table.rows[1] == (OURS, quarter)
    # The diagnostic's own ε is on the curve, too.
    assert [column.title for column in curve.table.columns[1:]] == ["ε = 0", "ε = 0.1", "ε = 0.3"]
    assert [cell.mean for cell in curve.table.rows[1][1:] if isinstance(cell, Interval)] == [
        0,
        0,
        1,
    ]
    (chart,) = curve.charts
    assert isinstance(chart, LineChart) and chart.marked == 0.1
    assert [one.name for one in chart.lines] == ["bounded teacher", OURS, "fixed k=1"]
    assert "loses 0.25 [0.25, 0.25] of J" in shown.answer
    assert "It loses 0.75 less than fixed k = 1" in shown.answer
    assert "at 50% of its decisions; never stopping would be right at 50%" in shown.answer


def test_few_users_are_compared_with_nobody() -> None:
    answer = section(hand_made(3), ExactOracleConfig(), about_one_task()).answer
    assert "3 users are too few to compare it with fixed k = 1" in answer
    assert "less than" not in answer


def test_equals_are_not_told_apart() -> None:
    rows = [row(name, user) for user in range(6) for name in ("bounded teacher", OURS, "fixed k=0")]
    answer = section(rows, ExactOracleConfig(), about_one_task()).answer
    assert "cannot be told apart from fixed k = 0" in answer


def test_requests_are_reported_ones_and_every_profile_is_scored(lab: Laboratory) -> None:
    found = exact_requests(lab, 3, 2, 2)
    reported = {subject.space.case.name: subject.space.case for subject in lab.subjects()}
    assert len(found) == 4  # two of each task
    for one in found:
        case = reported["/".join(one.key)]
        assert one.subject.space.case.pool == case.pool[:3]
        assert len(one.tree.profiles) == 1 + 3 + 6
    assert len(exact_requests(lab, 3, 2, 0)) == len(reported)


def test_the_study_s_horizon_is_not_left(lab: Laboratory) -> None:
    found = exact_requests(lab, 4, 9, 1)
    assert {len(profile) for one in found for profile in one.tree.profiles} == {0, 1, 2, 3}


def test_labels_with_short_beams_shorten_nothing(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = replace(lab.study.label, search=replace(lab.study.label.search, levels=1, roots=()))
    monkeypatch.setattr(lab, "study", replace(lab.study, label=label))
    (one, *_) = exact_requests(lab, 3, 2, 1)
    assert len(one.tree.profiles) == 1 + 3 + 6
    assert oracle_config(lab, 3, 2).bounded("one").search.levels == 0


def test_regret_is_what_the_best_profile_has_more(lab: Laboratory) -> None:
    found = exact_requests(lab, 3, 2, 2)
    policy = lab.policy()
    values = regrets(lab, policy, found)
    for one in found:
        exact = exact_of(lab, one)
        (chosen,) = lab.chosen(policy, [one.subject])
        assert values[one.key] == pytest.approx(exact.net.max() - exact.net[exact.node_of[chosen]])


def test_a_toy_study(lab: Laboratory, tmp_path: Path) -> None:
    rows = measure(lab, SMALL)
    names = list(dict.fromkeys(one.found.selector for one in rows))
    assert names == [
        "exact oracle",
        "minimal sufficient",
        "bounded teacher",
        "myopic",
        "ENOUGH",
        "ENOUGH, hindsight targets",
        "ENOUGH, myopic targets",
        "fixed k=0",
        "fixed k=1",
        "fixed k=2",
    ]
    assert all(one.found.regret == 0 for one in rows if one.found.selector == "exact oracle")
    assert all(one.found.regret >= 0 for one in rows)
    path = tmp_path / "rows.parquet"
    write_parquet(path, EXACT_ORACLE.row, rows, {})
    assert read_parquet(path, EXACT_ORACLE.row) == rows
    shown = section(rows, SMALL, about(lab.study))
    assert [line[0] for line in shown.panels[0].table.rows] == names


def test_the_study_s_own_kind_is_not_trained_again(lab: Laboratory) -> None:
    rows = measure(lab, ExactOracleConfig(pool=2, max_records=1, requests=1, kinds=("crossfit",)))
    assert not [one for one in rows if "targets" in one.found.selector]


def test_settings() -> None:
    with pytest.raises(ConfigError, match=r"exact-oracle\.pool"):
        ExactOracleConfig(pool=0)
    with pytest.raises(ConfigError, match="epsilons"):
        ExactOracleConfig(epsilons=())
    with pytest.raises(ConfigError, match="once"):
        ExactOracleConfig(kinds=("myopic", "myopic"))
