"""Stopping errors: each event by hand, trajectories in trees, and a toy study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from enough.controller.examples import LabelledRequest
from enough.controller.visiting import visited_states
from enough.diagnostics.diagnostic import About
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import DotChart
from enough.diagnostics.stopping.held_out_trees import held_out
from enough.diagnostics.stopping.stop_audit import StopAudit, Trajectory, audit, trajectory_of
from enough.diagnostics.stopping.stop_errors import StopErrorRow, StopErrorsConfig, measure, section
from enough.errors import DataError
from enough.evaluation.intervals import Interval
from enough.evaluation.yardstick import labelled_users
from enough.labels.folder import LabelFolder
from enough.parquet_rows import read_parquet, write_parquet
from enough.prompts.profile_sequences import Profile
from enough.teacher.components import TargetConfig, raw_components
from tests.controller.toy import features
from tests.teacher.cases import tree_of_values

ABOUT = About({}, TargetConfig(), 3, is_made_up=True)
FREE = TargetConfig(0.0, 0.0)


def test_a_stop_is_premature_if_going_on_is_worth_strictly_more() -> None:
    early = audit(Trajectory((0.0, 0.25), (1.0, 1.0), "stopped"))
    assert early == StopAudit(True, 0.75, False, 0.0, None) and early.loss == 0.75
    tie = audit(Trajectory((0.0, 1.0), (1.0, 1.0), "stopped"))
    assert tie == StopAudit(False, 0.0, False, 0.0, None) and tie.loss == 0
    at_once = audit(Trajectory((0.0,), (0.5,), "stopped"))
    assert at_once.is_premature and at_once.loss == 0.5


def test_an_end_is_late_if_the_teacher_preferred_an_earlier_stop() -> None:
    late = audit(Trajectory((0.0, 0.75, 0.5), (0.75, 0.5, 0.25), "stopped"))
    assert late == StopAudit(False, 0.0, True, 0.25, 1) and late.loss == 0.25
    # Of several such prefixes the first: nothing below it is worth more.
    twice = audit(Trajectory((1.0, 0.75, 0.5), (0.75, 0.5, None), "horizon"))
    assert twice == StopAudit(False, 0.0, True, 0.5, 0)
    # A tie is STOP's, here at the root already; going on cost nothing.
    tie = audit(Trajectory((0.0, 0.0), (0.0, -1.0), "stopped"))
    assert tie == StopAudit(False, 0.0, True, 0.0, 0)


def test_both_errors_may_happen_and_the_larger_loss_counts() -> None:
    both = audit(Trajectory((1.0, 0.25), (0.75, 0.75), "stopped"))
    assert both == StopAudit(True, 0.5, True, 0.75, 0) and both.loss == 0.75


def test_who_could_not_go_on_did_not_stop_early() -> None:
    for ending in ("horizon", "no room"):
        assert audit(Trajectory((0.0, 0.5), (0.5, None), ending)).loss == 0
        assert audit(Trajectory((0.75, 0.5), (0.5, None), ending)).late_loss == 0.25


LIKELIHOODS = {(): -4.0, (0,): -3.0, (1,): -3.5, (0, 1): -5.0, (1, 0): -2.0}


def labelled(likelihoods: Mapping[Profile, float], size: int) -> LabelledRequest:
    tree = tree_of_values(likelihoods, (100,) * size, 2)
    return LabelledRequest(features(size), tree, raw_components(tree))


def test_trajectories_read_their_values_from_the_tree() -> None:
    """Record 0 gains 1, record 1 gains .5, both gain −1 or, the other way round, 2."""
    request = labelled(LIKELIHOODS, 2)
    assert trajectory_of(request, (), FREE) == Trajectory((0.0,), (2.0,), "stopped")
    assert trajectory_of(request, (0,), FREE) == Trajectory((0.0, 1.0), (2.0, -1.0), "stopped")
    assert trajectory_of(request, (1, 0), FREE) == Trajectory(
        (0.0, 0.5, 2.0), (2.0, 2.0, None), "horizon"
    )
    alone = labelled({(): -4.0, (0,): -3.0}, 1)
    assert trajectory_of(alone, (0,), FREE).ending == "no room"


def test_a_state_that_is_not_fully_expanded_is_refused() -> None:
    missing = {profile: value for profile, value in LIKELIHOODS.items() if profile != (1, 0)}
    with pytest.raises(DataError, match="delete the held-out labels"):
        trajectory_of(labelled(missing, 2), (1,), FREE)
    with pytest.raises(DataError, match="delete the held-out labels"):
        trajectory_of(labelled(missing, 2), (1, 0), FREE)


def test_held_out_trees_are_of_new_users_and_hold_what_was_visited(lab: Laboratory) -> None:
    data = held_out(lab, 4, visited=True)
    assert data.scales == lab.study.scales
    seen = {user for _, user in labelled_users(LabelFolder(lab.study.labels))}
    assert not seen & {one.tree.of.user for one in data.requests}
    reported = {subject.space.case.name for subject in lab.subjects()}
    assert {f"{one.tree.of.task}/{one.tree.of.request}" for one in data.requests} == reported
    plain = held_out(lab, 4, visited=False)
    visited = visited_states(lab.study.trained, data.requests)
    for before, one in zip(plain.requests, data.requests, strict=True):
        states = visited[f"{one.tree.of.task}/{one.tree.of.request}"]
        assert set(before.tree.profiles) < set(one.tree.profiles)
        assert set(states) < set(one.tree.profiles)
    folders = {path.name for path in Path(lab.study.shop.folder).iterdir()}
    assert {"held-out-4", "held-out-4-visited"} <= folders


def test_errors_of_a_toy_study(lab: Laboratory, tmp_path: Path) -> None:
    rows = measure(lab, StopErrorsConfig(requests=4))
    chosen = lab.chosen(lab.policy(), lab.subjects())
    named = {row.request_id: row for row in rows}
    assert len(rows) == len(chosen) == len(named)
    for subject, profile in zip(lab.subjects(), chosen, strict=True):
        row = named[subject.space.case.example.request.id]
        assert row.records == len(profile)
        assert row.ending == ("horizon" if len(profile) == 3 else "stopped")
        # Likelihoods are the same; the teacher samples a slot where the laboratory takes all.
        worth = lab.components([(subject, profile)], "own")[subject.space.case.name, profile]
        if worth[1] == 0:
            assert row.net == pytest.approx(worth[2], abs=1e-5)
    path = tmp_path / "rows.parquet"
    write_parquet(path, StopErrorRow, rows, {})
    assert read_parquet(path, StopErrorRow) == rows


def hand_made() -> list[StopErrorRow]:
    """Five users: early (loss 1), early and late (loss .5), forced, without room, right."""
    right = StopAudit(False, 0.0, False, 0.0, None)
    early = StopAudit(True, 1.0, False, 0.0, None)
    both = StopAudit(True, 0.25, True, 0.5, 0)
    kinds = ((early, "stopped"), (both, "stopped"), (right, "horizon"), (right, "no room"))
    return [
        StopErrorRow("LaMP-4" if i < 2 else "LaMP-7", f"q{i}", f"u{i}", ending, 1, 0.0, found)
        for i, (found, ending) in enumerate((*kinds, (right, "stopped")))
    ]


def test_the_section_of_hand_made_rows() -> None:
    shown = section(hand_made(), StopErrorsConfig(), ABOUT)
    lines = {line[0]: line[1:] for line in shown.panels[0].table.rows}

    def means(name: str) -> list[float | None]:
        return [one.mean if isinstance(one, Interval) else None for one in lines[name][1:]]

    assert lines["premature"][0] == 2 and means("premature") == pytest.approx([0.4, 0.75, 0.3])
    assert lines["late"][0] == 1 and means("late") == pytest.approx([0.2, 0.5, 0.1])
    assert lines["forced at K_max"][0] == 1 and means("forced at K_max") == [0.2, 0, 0]
    assert means("no room")[0] == 0.2 and means("premature and late")[0] == 0.2
    assert means("neither premature nor late") == pytest.approx([0.6, 0, 0])
    by_task = shown.panels[1].table.rows
    assert [line[:2] for line in by_task] == [("all", 5), ("LaMP-4", 2), ("LaMP-7", 3)]
    losses = [line[-1].mean for line in by_task if isinstance(line[-1], Interval)]
    assert losses == pytest.approx([0.3, 0.75, 0])
    chart = shown.panels[0].charts[0]
    assert isinstance(chart, DotChart) and [dot.value for dot in chart.dots] == [0.4, 0.2, 0.2, 0.2]
    assert "stops too early at 40%" in shown.answer and "loses 0.300 of J a request" in shown.answer
    assert shown.answer.endswith("Which of the two errors is more frequent cannot be told.")


def test_a_clear_difference_is_told() -> None:
    early = hand_made()[0]
    rows = [replace(early, user=f"u{i}", request_id=f"q{i}") for i in range(6)]
    answer = section(rows, StopErrorsConfig(), ABOUT).answer
    assert answer.endswith("It stops too early more often than too late.")
    assert section(rows[:3], StopErrorsConfig(), ABOUT).answer.endswith("cannot be told.")
