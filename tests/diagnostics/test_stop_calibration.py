"""Stop probabilities on a toy study, and what is shown of hand-made states."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from enough.diagnostics.diagnostic import About
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import LineChart
from enough.diagnostics.stopping.stop_calibration import measure
from enough.diagnostics.stopping.stop_calibration_section import section
from enough.diagnostics.stopping.stop_states import (
    States,
    StopCalibrationConfig,
    StopStateRow,
    measures,
    within_tasks,
)
from enough.diagnostics.study import Study, StudyConfig
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.progress import OnStep
from enough.teacher.components import TargetConfig
from tests.diagnostics.toy import open_toy
from tests.evaluation.evaluate_fakes import Worded

ABOUT = About({}, TargetConfig(), 3, is_made_up=True)


def test_probabilities_are_those_of_the_policy(lab: Laboratory) -> None:
    trained = replace(lab.study.trained, stop_temperature=0.5, stop_offset=0.7)

    def opening(config: StudyConfig, folder: Path, on_step: OnStep) -> Study:
        return replace(open_toy(config, folder, on_step), trained=trained)

    lab = Laboratory(lab.config, lab.folder, generator=Worded(), opening=opening)
    rows = measure(lab, StopCalibrationConfig(requests=4))
    policy = lab.policy()
    steps = {}
    for subject in lab.subjects():  # the same requests: so many are drawn with the same seed
        case = subject.space.case
        trace = policy.trace(case.example.request, case.pool, subject.space.budget)
        for length, step in enumerate(trace.steps):
            steps[case.example.request.id, length] = step
    own = {(row.request_id, row.records): row for row in rows if row.records < 2}
    assert own.keys() >= steps.keys() and len(steps) > len(lab.subjects())
    for request in lab.subjects():
        name = request.space.case.example.request.id
        assert own[name, 0].margin == pytest.approx(steps[name, 0].margin, abs=1e-4)
        assert own[name, 0].probability == pytest.approx(steps[name, 0].stop_probability, abs=1e-3)
    alone = measure(lab, StopCalibrationConfig(requests=4, visited=False))
    assert len(alone) < len(rows)
    assert {row.request_id for row in alone} == {row.request_id for row in rows}


def states() -> list[StopStateRow]:
    """Six users with two states each: below one half the teacher never stops, above always."""
    rows = []
    for user in range(6):
        task = "LaMP-4" if user < 3 else "LaMP-7"
        rows += [
            StopStateRow(task, f"q{user}", f"u{user}", 0, -1.0, 0.1, False),
            StopStateRow(task, f"q{user}", f"u{user}", 1, 1.0, 0.7, True),
        ]
    return rows


def test_measures_of_hand_made_states() -> None:
    found = measures(States.of(states()), 5)
    assert (found.states, found.users) == (12, 6)
    assert found.stop_share == Interval(0.5, 0.5, 0.5)
    assert found.brier.mean == pytest.approx((0.01 + 0.09) / 2)
    assert found.ece.mean == pytest.approx((0.1 + 0.3) / 2)
    assert found.auroc == found.auprc == Interval(1, 1, 1)
    within = within_tasks(States.of(states()))
    assert within.tasks == 2 and within.auroc == Interval(1, 1, 1)


def test_ranks_are_those_of_margins() -> None:
    """Far from zero all probabilities are one, but the margins still tell."""
    far = [
        StopStateRow("LaMP-4", f"q{i}", f"u{i}", 0, 50.0 + i, 1.0, is_stop)
        for i, is_stop in enumerate((False, False, True))
    ]
    found = measures(States.of(far), 5)
    assert found.auroc is not None and found.auroc.mean == 1


def test_the_section_of_hand_made_states() -> None:
    shown = section(states(), StopCalibrationConfig(), ABOUT)
    bins, whole, groups = (panel.table.rows for panel in shown.panels)
    assert [line[:3] for line in bins] == [
        ("0.00 to 0.20", 6, 6),
        ("0.20 to 0.40", 0, 0),
        ("0.40 to 0.60", 0, 0),
        ("0.60 to 0.80", 6, 6),
        ("0.80 to 1.00", 0, 0),
    ]
    assert bins[0][3] == pytest.approx(0.1) and bins[1][3:] == (None, None)
    assert isinstance(bins[0][4], Interval) and bins[0][4].mean == 0 and bins[0][4].high > 0.3
    chart = shown.panels[0].charts[0]
    assert isinstance(chart, LineChart) and chart.has_diagonal
    assert [point.note for point in chart.lines[0].points] == ["6 states", "6 states"]
    named = {line[0]: line[1:] for line in whole}
    assert named["Brier score"][1] == 0.25 and named["AUPRC"][1] == 0.5
    assert named["Tasks with both decisions"][0] == 2
    assert [line[:3] for line in groups] == [
        ("LaMP-4", 6, 3),
        ("LaMP-7", 6, 3),
        ("no records", 6, 6),
        ("one record", 6, 6),
    ]
    assert groups[2][7:] == (None, None)  # the teacher never stops there
    assert "teacher stops at 50%, and the controller expects 40%" in shown.answer
    assert "better than chance (AUROC 1.00 (1.00 to 1.00))" in shown.answer


def test_nothing_is_claimed_without_evidence() -> None:
    alike = [row for row in states() if row.teacher_stops]
    shown = section(alike, StopCalibrationConfig(), ABOUT)
    assert shown.answer.endswith("The teacher always decides alike, so nothing can be told apart.")
    few = section(states()[:4], StopCalibrationConfig(), ABOUT)
    assert "Whether it tells stops better than chance is not known" in few.answer
    with pytest.raises(ConfigError, match=r"stop-calibration\.bins"):
        StopCalibrationConfig(bins=0)
