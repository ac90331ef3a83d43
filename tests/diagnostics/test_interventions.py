"""Specificity interventions on a toy study and on hand-made rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from enough.diagnostics.diagnostic import About
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.personal.intervention_rows import (
    CALLED_OTHER,
    CALLED_OWN,
    COMPARED_WITH,
    INTERVENTIONS_IN_ORDER,
    MATCHED,
    RANDOM,
    SHUFFLE,
    SWAP,
    TARGET,
    InterventionRow,
    InterventionsConfig,
)
from enough.diagnostics.personal.interventions import measure, planned
from enough.diagnostics.personal.interventions_section import match_smd, section
from enough.diagnostics.personal.other_users import OtherUsers
from enough.diagnostics.tried import Tried
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.parquet_rows import read_parquet, write_parquet
from enough.tasks import LAMP_TASKS
from enough.teacher.components import TargetConfig
from enough.teacher.supervision import Subject
from tests.diagnostics.toy import about

ABOUT = About(dict(LAMP_TASKS), TargetConfig(), 3, is_made_up=True)


def test_every_compared_request_has_all_interventions(lab: Laboratory, tmp_path: Path) -> None:
    config = InterventionsConfig("fixed", length=2)
    rows = measure(lab, config)
    compared = [row for row in rows if not row.left_out]
    per_request = Counter((row.tried.task, row.tried.request_id) for row in compared)
    assert per_request and set(per_request.values()) == {len(INTERVENTIONS_IN_ORDER)}
    assert all(row.intervention == TARGET for row in rows if row.left_out)
    assert all(len(row.tried.records) == 2 for row in compared)
    for row in compared:
        if row.intervention in (TARGET, SHUFFLE):
            assert row.mean_smd == 0
    path = tmp_path / "rows.parquet"
    write_parquet(path, InterventionRow, rows, {})
    assert read_parquet(path, InterventionRow) == rows
    shown = section(rows, config, about(lab.study))
    assert [line[0] for line in shown.panels[0].table.rows] == list(INTERVENTIONS_IN_ORDER)
    assert measure(lab, config) == rows


def test_whose_records_stand_in_each_profile(lab: Laboratory) -> None:
    for subject in lab.subjects():
        case = subject.space.case
        user = case.example.request.user
        dataset = lab.study.datasets[case.example.request.task.name]
        others = OtherUsers(dataset, lab.study.stages.controls)
        plan = planned(subject, (1, 3), others, lab, InterventionsConfig())
        assert not plan.left_out
        for name in (MATCHED, RANDOM, SWAP):
            assert all(record.owner != user for record in plan.records[name])
        assert len({record.owner for record in plan.records[SWAP]}) == 1
        matched = plan.records[MATCHED]
        assert matched[0] in case.controls[1] and matched[1] in case.controls[3]
        shuffled = plan.records[SHUFFLE]
        assert [r.context for r in shuffled] == [r.context for r in plan.records[TARGET]]


def test_why_a_request_is_left_out(lab: Laboratory) -> None:
    subject = lab.subjects()[0]
    case = subject.space.case
    dataset = lab.study.datasets[case.example.request.task.name]
    others = OtherUsers(dataset, lab.study.stages.controls)
    config = InterventionsConfig()
    assert planned(subject, (), others, lab, config).left_out == "empty profile"
    alone = replace(case, controls=((), *case.controls[1:]))
    unmatched = Subject(alone, lab.prompter, lab.generator.window, 3)
    left_out = planned(unmatched, (1, 0), others, lab, config)
    assert left_out.left_out == "a record without matched controls"
    assert [record.id for record in left_out.records[TARGET]] == [
        case.pool[1].record.id,
        case.pool[0].record.id,
    ]
    assert planned(unmatched, (1, 2), others, lab, config).left_out == ""


def a_row(name: str, user: int, gain: float, left_out: str = "") -> InterventionRow:
    tried = Tried(
        "LaMP-3", f"q{user}", f"u{user}", ("r",), 30, "4", "5", -1.0, -2.0, log_likelihood_gain=gain
    )
    return InterventionRow(name, left_out, tried, 0, 2, 0.5)


def hand_made(changes: dict[str, float], users: int = 8) -> list[InterventionRow]:
    """The gain of every request is 1 but for what an intervention changes."""
    return [
        a_row(name, user, 1 + changes.get(name, 0.0) * (1 + user / 100))
        for name in INTERVENTIONS_IN_ORDER
        for user in range(users)
    ]


def test_differences_are_paired_and_against_the_right_side() -> None:
    rows = hand_made({MATCHED: -0.5, CALLED_OWN: -0.2, CALLED_OTHER: -0.2})
    lines = {
        line[0]: line for line in section(rows, InterventionsConfig(), ABOUT).panels[0].table.rows
    }
    assert lines[TARGET][1] == Interval(100.0, 100.0, 100.0)
    assert lines[TARGET][3] is None and lines[CALLED_OWN][3] is None
    matched, permuted = lines[MATCHED][3], lines[CALLED_OTHER][3]
    assert isinstance(matched, Interval) and isinstance(permuted, Interval)
    assert matched.mean == pytest.approx(-0.5 * 1.035)
    assert permuted.mean == 0  # against the side called own, not against the target
    assert set(lines) - set(COMPARED_WITH) == {TARGET, CALLED_OWN}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({MATCHED: -0.5}, "part of the gain is the user's own"),
        ({MATCHED: 0.5}, "others' records serve better"),
        ({}, "cannot be told"),
        ({MATCHED: -0.5, CALLED_OTHER: -0.3}, "trust neither"),
    ],
)
def test_the_answer_says_what_the_intervals_say(changes: dict[str, float], said: str) -> None:
    assert said in section(hand_made(changes), InterventionsConfig(), ABOUT).answer


def test_what_was_left_out_is_counted() -> None:
    gone = [a_row(TARGET, user, 0.0, "empty profile") for user in (20, 21)]
    shown = section([*hand_made({}), *gone], InterventionsConfig(), ABOUT)
    assert "8 requests" in shown.panels[0].caption
    assert "Left out: 2 (empty profile)." in shown.panels[0].caption
    nothing = section(gone, InterventionsConfig(), ABOUT)
    assert nothing.answer == "There is no request to compare. Left out: 2 (empty profile)."
    assert nothing.panels[0].table.rows == ()
    few = section(hand_made({MATCHED: -1.0}, users=5), InterventionsConfig(), ABOUT)
    assert few.answer.endswith("; requests: 5, users: 5, too few to tell apart.")


def test_balance_of_several_tasks_weighs_covariates_alike() -> None:
    one = a_row(MATCHED, 1, 0.0)
    other = replace(one, tried=replace(one.tried, task="LaMP-7"), covariates=6, mean_smd=0.1)
    unknown = replace(one, tried=replace(one.tried, task="LaMP-2"), mean_smd=None)
    assert match_smd([one, one, other]) == pytest.approx((2 * 0.5 + 6 * 0.1) / 8)
    assert match_smd([one, unknown]) == 0.5
    assert match_smd([unknown]) is None


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="length"):
        InterventionsConfig(length=0)
