"""What suits the average request: by hand, in all runtimes alike, and on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.controller.checkpoint import load_controller, save_controller
from enough.controller.habit import PLAIN, Habit, HabitConfig, learn_habit
from enough.controller.rollout import roll_out
from enough.controller.task_table import OTHER
from enough.errors import ConfigError, DataError
from enough.online.batched_controller import BatchedController
from enough.online.fast_controller import FastController
from enough.online.policy import ControllerPolicy
from enough.teacher.components import TargetConfig
from tests.controller.toy import labelled
from tests.online.test_batched_controller import VARIANTS, lively, pools
from tests.online.test_fast_controller import POINT, trained
from tests.retrieval.tiny import BagEncoder

CURVE = ((0.0, 0.0, 0.0, 0.0), (0.5, 0.25, 0.1, 0.3), (0.6, 0.0, 0.2, 0.1), (1.0, 0.0, 0.3, 0.7))
"""At β = 0.4 and λ = 1: J = 0, 0.5, 0.4, 0.7; with ρ = 0.5: 0, 0.35, 0.35, 0.35."""
PRICED = TargetConfig(0.4, 1.0)


def test_what_is_added_to_stop_by_hand() -> None:
    habit = Habit(HabitConfig(trust=0.5), {"LaMP-7": CURVE})
    # (1 − s) / s = 1; on the average request going on is worth 0.7, 0.2, 0.3, and nothing after.
    np.testing.assert_allclose(habit.stop_shifts("LaMP-7", PRICED), [-0.7, -0.2, -0.3, 0.0])
    third = Habit(HabitConfig(trust=0.25), {"LaMP-7": CURVE})
    np.testing.assert_allclose(third.stop_shifts("LaMP-7", PRICED), [-2.1, -0.6, -0.9, 0.0])
    # At λ = 10: J = 0, −0.4, −1.4, −2: going on costs the average request 0.4, 1, 0.6.
    dear = habit.stop_shifts("LaMP-7", TargetConfig(0.4, 10.0))
    np.testing.assert_allclose(dear, [0.4, 1.0, 0.6, 0.0])


def test_losses_count_more_than_gains_by_hand() -> None:
    habit = Habit(HabitConfig(trust=0.5, aversion=0.5), {"LaMP-7": CURVE})
    shifts = habit.stop_shifts("LaMP-7", PRICED)
    np.testing.assert_allclose(shifts, [-0.35, 0.0, 0.0, 0.0], atol=1e-12)
    fearful = Habit(HabitConfig(trust=0.5, aversion=2.0), {"LaMP-7": CURVE})
    # J = 0, −0.1, 0.2, −0.7: two records are best, and nothing after them.
    shifts = fearful.stop_shifts("LaMP-7", PRICED)
    np.testing.assert_allclose(shifts, [-0.2, -0.3, 0.9, 0.0], atol=1e-12)


def test_an_unknown_task_has_the_mean_of_all() -> None:
    habit = Habit(HabitConfig(trust=0.5), {"LaMP-7": CURVE, OTHER: CURVE[:2]})
    np.testing.assert_allclose(habit.stop_shifts("mine", PRICED), [-0.5, 0.0])
    assert PLAIN.stop_shifts("mine", PRICED).tolist() == [0.0]


def test_values_as_they_are_compared_by_hand() -> None:
    habit = Habit(HabitConfig(trust=0.5, lead=0.1), {"LaMP-7": CURVE})
    net, stop = habit.weighed(
        np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]),
        np.array([0.0, 5.0]),
        np.array([0, 7]),  # more than the curve has
        np.array([[True, True, True], [False, True, True]]),
        task="LaMP-7",
        point=PRICED,
    )
    np.testing.assert_allclose(net, [[1.0, 1.9, 2.9], [0.9, 2.0, 2.9]])
    np.testing.assert_allclose(stop, [-0.7, 5.0])


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8), st.floats(0.001, 0.01))
def test_hardly_any_trust_is_the_best_fixed_length(nets: list[float], trust: float) -> None:
    """Whatever a controller says about single requests, if it says little."""
    curve = tuple((net, 0.0, 0.0, 0.0) for net in [0.0, *nets])
    shifts = Habit(HabitConfig(trust), {"t": curve}).stop_shifts("t", PRICED)
    values = np.array([net for net, *_ in curve])
    taken = 0
    while taken < len(nets) and shifts[taken] < 1e-6:  # 1e-6: what the next seems to be worth
        taken += 1
    assert values[taken] >= values.max() - 1e-4
    assert PLAIN.is_plain


@pytest.mark.parametrize("changes", VARIANTS)
def test_all_runtimes_decide_alike(changes: dict[str, object]) -> None:
    habit = Habit(HabitConfig(trust=0.4, lead=0.3), {"LaMP-7": CURVE, OTHER: CURVE})
    model = lively(**changes)
    some = [one for one in pools(120, seed=3) if len(one.tokens)]
    ours = dataclasses.replace(trained(model), habit=habit)
    alone = [ControllerPolicy(ours, BagEncoder()).decide(one).profile for one in some]
    assert BatchedController(ours).decide_many(some) == alone
    assert [profile for profile, _ in roll_out(model, some, POINT, 0, habit)] == alone
    plain = [ControllerPolicy(trained(model), BagEncoder()).decide(one).profile for one in some]
    assert alone != plain


def test_the_mean_of_labels_along_the_retrievers_order() -> None:
    requests = [labelled(2, seed=seed) for seed in range(4)]
    habit = learn_habit(HabitConfig(trust=0.5), requests, horizon=4)
    (task,) = {one.tree.of.task for one in requests}
    assert habit.curves.keys() == {task, OTHER}
    curve = np.array(habit.curves[task])
    for length, profile in enumerate([(), (0,), (0, 1), (0, 1), (0, 1)]):  # two records in all
        gains = [one.components.gain[one.tree.profiles.index(profile)] for one in requests]
        assert curve[length, 0] == pytest.approx(np.mean(gains))
        assert curve[length, 3] == pytest.approx(np.mean([max(-gain, 0) for gain in gains]))
    assert habit.curves[OTHER] == habit.curves[task]
    assert learn_habit(HabitConfig(lead=0.2), requests, 4) == Habit(HabitConfig(lead=0.2))


def test_labels_off_the_retrievers_order_are_refused() -> None:
    with pytest.raises(DataError, match="no labels along the retriever's order"):
        learn_habit(HabitConfig(trust=0.5), [labelled(4)], horizon=4)  # pairs at most


def test_it_is_kept_with_the_controller(tmp_path: Path) -> None:
    habit = Habit(HabitConfig(trust=0.3, lead=0.1), {"LaMP-7": CURVE, OTHER: CURVE})
    save_controller(tmp_path, dataclasses.replace(trained(lively()), habit=habit))
    assert load_controller(tmp_path).habit == habit


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"trust": 0.0}, "above 0 and at most 1"),
        ({"trust": 1.1}, "at most 1"),
        ({"lead": -1.0}, "negative"),
        ({"trust": 0.5, "aversion": -1.0}, "aversion must not be negative"),
        ({"aversion": 0.5}, "changes nothing with a habit.trust of 1"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        HabitConfig(**wrong)


def test_it_is_a_part_of_the_values_that_are_shown() -> None:
    habit = Habit(HabitConfig(trust=0.4, lead=0.3), {"LaMP-7": CURVE, OTHER: CURVE})
    model = lively()
    pool = next(one for one in pools(50, seed=3) if len(one.tokens) > 3 and one.max_records > 3)
    own = FastController(dataclasses.replace(trained(model), habit=habit)).start(pool)
    plain = FastController(trained(model)).start(pool)
    for _ in range(2):
        ours, theirs = own.values(), plain.values()
        np.testing.assert_allclose(ours.net, theirs.net + ours.actions[:, 3], atol=1e-6)
        assert ours.net_stop == pytest.approx(theirs.net_stop + ours.stop[3], abs=1e-6)
        assert np.unique(ours.actions[:, 3]).tolist() == pytest.approx([-0.3, 0.0])
        place = int(np.flatnonzero(own.feasible)[-1])
        own.take(place)
        plain.take(place)
