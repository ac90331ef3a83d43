"""What a policy realises within a tree, and how its margins tell the teacher's stops, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from enough.controller.crossfit import plain_targets
from enough.controller.examples import LabelledRequest
from enough.controller.judging import (
    Predicted,
    StopDecisions,
    fit_stop_calibration,
    judge,
    net_values,
    stop_decisions,
    stop_quality,
    tree_policy,
)
from enough.controller.labelled import Labelled
from enough.teacher.components import TargetConfig, raw_components
from tests.controller.toy import controller, features, labelled
from tests.teacher.cases import tree_of_values

POINT = TargetConfig(0.0, 0.0)
LIKELIHOODS = {(): -4.0, (0,): -3.0, (1,): -3.5, (0, 1): -5.0}


def one(task: str = "LaMP-7") -> LabelledRequest:
    """Record 0 gains 1, record 1 gains .5, both in this order lose 1."""
    tree = tree_of_values(LIKELIHOODS, (100, 110), 2)
    seen = dataclasses.replace(features(2, task=task), max_records=2, room=500)
    return LabelledRequest(seen, tree, raw_components(tree))


def seen(*requests: LabelledRequest) -> Labelled:
    return Labelled.of(requests, plain_targets(requests, POINT, "hindsight"))


def predicted(actions: list[list[float]], stop: list[float]) -> Predicted:
    values = np.array(actions, np.float64), np.array(stop, np.float64)
    return Predicted(values, values)


TAKES_BOTH = predicted([[2.0, 1.0], [9.0, 0.5], [0, 0], [0, 0]], [0.0, 0.2, 0.0, 0.0])
STOPS_AT_ONCE = predicted([[-1.0, -2.0]] * 4, [0.0] * 4)


def test_the_policy_takes_labelled_actions_only() -> None:
    """At (0) the value 9 is that of record 0 itself, which is no action there."""
    labels = seen(one())
    assert tree_policy(labels.requests[0], labels.rows[0], TAKES_BOTH) == (3, 2.0)
    assert tree_policy(labels.requests[0], labels.rows[0], STOPS_AT_ONCE) == (0, 0.0)


def test_a_habit_weighs_choices_and_promises_nothing() -> None:
    """With STOP .5 dearer and record 1 .1 cheaper: the choice changes, its own value is told."""
    labels = seen(one())
    own = predicted([[0.3, 0.4], [0, 0], [0, 0], [0, 0]], [0.0] * 4).own
    cheap = np.array([[0.3, 0.3], [0, 0], [0, 0], [0, 0]])
    found = Predicted((cheap - 0.05 * np.eye(4, 2), np.zeros(4)), own)
    assert tree_policy(labels.requests[0], labels.rows[0], found) == (2, 0.4)
    found = Predicted((cheap, np.full(4, 0.5)), own)
    assert tree_policy(labels.requests[0], labels.rows[0], found) == (0, 0.0)


def test_judge_by_hand() -> None:
    labels = seen(one(), one("LaMP-4"))
    lines = {line.task: line for line in judge(labels, [TAKES_BOTH, STOPS_AT_ONCE], POINT)}
    assert list(lines) == ["LaMP-4", "LaMP-7", "all"]
    both = lines["LaMP-7"]
    assert (both.net, both.promised, both.gap, both.best) == (-1.0, 2.0, 3.0, 1.0)
    assert (both.tokens, both.records, both.harm, both.root_stop) == (210, 2, 1, 0)
    assert (lines["LaMP-4"].net, lines["LaMP-4"].root_stop) == (0, 1)
    assert (lines["all"].requests, lines["all"].gap) == (2, 1.5)


def test_stop_decisions_by_hand() -> None:
    """The teacher goes on at ∅ (to gain 1) and stops at (0); (1) is not expanded."""
    found = stop_decisions(seen(one(), one("LaMP-4")), [TAKES_BOTH, STOPS_AT_ONCE])
    # at (0) record 1 is the only feasible one
    assert found.margins.tolist() == pytest.approx([-2.0, 0.2 - 0.5, 1.0, 2.0])
    assert found.stops.tolist() == [False, True, False, True]
    assert found.tasks == ("LaMP-7", "LaMP-7", "LaMP-4", "LaMP-4")


def test_net_values_are_those_of_each_request_alone() -> None:
    labels = seen(*(labelled(size, seed=size) for size in (2, 5, 3)))
    model = controller()
    together = net_values(model, labels, POINT)
    for place, (actions, stop) in enumerate(one.compared for one in together):
        (found,) = net_values(model, labels.some([place]), POINT)
        alone, stop_alone = found.own
        assert actions.shape == (len(labels.rows[place].length), (2, 5, 3)[place])
        np.testing.assert_allclose(actions, alone, atol=1e-6)
        np.testing.assert_allclose(stop, stop_alone, atol=1e-6)


def decisions(margins: list[float], stops: list[bool]) -> StopDecisions:
    return StopDecisions(np.array(margins), np.array(stops, np.bool_), ("LaMP-7",) * len(stops))


def test_a_temperature_makes_probabilities_right_where_margins_are_not_biased() -> None:
    """Margins ±1, right three times out of four: σ(1/T_s) = 3/4 at T_s = 1/ln 3, b = 0."""
    found = decisions([1, 1, 1, 1, -1, -1, -1, -1], [True] * 3 + [False] * 4 + [True])
    fitted, offset = fit_stop_calibration(found.margins, found.stops)
    assert fitted == pytest.approx(1 / np.log(3), rel=0.03)
    assert offset == pytest.approx(0, abs=1e-3)
    quality = stop_quality(found, 0.5, fitted, offset)
    assert quality.ece_before == pytest.approx(1 / (1 + np.exp(-2)) - 0.75)
    assert quality.ece == pytest.approx(0, abs=0.01)
    assert quality.auroc == quality.auroc_within_tasks == pytest.approx(0.75)
    assert (quality.states, quality.teacher_stop_share) == (8, 0.5)
    assert quality.mean_probability == pytest.approx(0.5, abs=1e-3)


def test_an_offset_shifts_what_no_temperature_can() -> None:
    """All margins speak for STOP, the teacher stops at one in four."""
    found = decisions(
        [0.3] * 8 + [0.2] * 8, [True, True] + [False] * 6 + [True, True] + [False] * 6
    )
    temperature, offset = fit_stop_calibration(found.margins, found.stops)
    without = stop_quality(found, 0.5, temperature, 0.0)
    quality = stop_quality(found, 0.5, temperature, offset)
    assert without.mean_probability is not None
    assert without.mean_probability >= 0.5
    assert quality.mean_probability == pytest.approx(0.25, abs=1e-3)
    assert quality.ece is not None
    assert quality.ece < 0.01


def test_a_teacher_that_never_stops_makes_no_infinite_offset() -> None:
    found = decisions([0.5, -0.4, 0.3], [False, False, False])
    temperature, offset = fit_stop_calibration(found.margins, found.stops)
    assert np.isfinite([temperature, offset]).all()
    assert stop_quality(found, 0.5, temperature, offset).mean_probability < 0.05  # type: ignore[operator]


def test_nothing_to_judge_by() -> None:
    quality = stop_quality(decisions([], []), 0.5, 1.0, 0.0)
    assert quality.states == 0
    assert quality.auroc is quality.ece is quality.mean_probability is None
