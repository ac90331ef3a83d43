"""Algorithm 2 by hand, and that nothing it must not see can be reached."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from enough.controller.habit import Habit, HabitConfig
from enough.controller.rollout import roll_out
from enough.controller.task_table import OTHER
from enough.errors import ConfigError, UnknownNameError
from enough.online.policy import ControllerPolicy
from enough.protocols import Budget
from enough.records import Candidate, Pool, Request
from enough.tasks import LAMP_TASKS
from tests.conftest import make_record, make_request
from tests.controller.toy import controller, features
from tests.online.test_fast_controller import POINT, trained
from tests.retrieval.tiny import BagEncoder


def policy(bias: float | None = None, forced_length: int | None = None) -> ControllerPolicy:
    model = controller()
    if bias is not None:
        torch.nn.init.zeros_(model.second.weight)
        torch.nn.init.constant_(model.second.bias, bias)
        torch.nn.init.zeros_(model.worth)
    return ControllerPolicy(trained(model), BagEncoder(), forced_length=forced_length)


def asked() -> tuple[Request, Pool, Budget]:
    request = make_request(LAMP_TASKS["LaMP-7"], input="Paraphrase: amber dune")
    records = [make_record(i + 1, context="", action=f"amber {i}") for i in range(5)]
    pool = tuple(Candidate(record, 1 / (i + 1)) for i, record in enumerate(records))
    return request, pool, Budget(3, 1000, (10, 20, 30, 40, 50))


def test_it_stops_at_once_when_nothing_is_worth_it() -> None:
    trace = policy(bias=-1.0).trace(*asked())
    assert (trace.profile, trace.tokens) == ((), 0)
    assert trace.reason == "nothing is worth its tokens"
    (step,) = trace.steps
    assert step.taken is None
    assert step.margin > 0
    assert step.stop_probability > 0.5


def test_a_tie_is_a_stop() -> None:
    pool = dataclasses.replace(features(3), tokens=np.zeros(3, np.int64))
    trace = policy(bias=0.0).decide(pool)  # every action is worth 0, and so is STOP
    assert trace.profile == ()
    assert trace.steps[0].margin == 0.0
    assert trace.steps[0].stop_probability == 0.5


def test_it_goes_on_to_the_horizon_and_no_further() -> None:
    trace = policy(bias=9.0).trace(*asked())
    assert len(trace.profile) == len(set(trace.profile)) == 3
    assert len(trace.steps) == 3
    assert trace.reason == "as many as may be"


def test_it_keeps_to_the_room() -> None:
    request, pool, budget = asked()
    trace = policy(bias=9.0).trace(
        request, pool, dataclasses.replace(budget, max_profile_tokens=35)
    )
    assert trace.tokens <= 35
    assert trace.reason == "no further record fits"


def test_it_says_when_nothing_is_left() -> None:
    request, pool, budget = asked()
    few = dataclasses.replace(budget, max_records=2, record_tokens=budget.record_tokens[:2])
    trace = policy(bias=9.0).trace(request, pool[:2], few)
    assert (len(trace.profile), trace.reason) == (2, "every candidate is in")


@pytest.mark.parametrize(
    ("length", "taken", "reason"),
    [(0, 0, "forced length"), (2, 2, "forced length"), (9, 3, "as many as may be")],
)
def test_a_forced_length_does_not_ask_stop(length: int, taken: int, reason: str) -> None:
    trace = policy(bias=-1.0, forced_length=length).trace(*asked())
    assert (len(trace.profile), len(trace.steps), trace.reason) == (taken, taken, reason)
    assert all(step.margin > 0 and step.taken is not None for step in trace.steps)
    assert len(set(trace.profile)) == taken


def test_a_forced_length_ends_a_profile_that_would_go_on() -> None:
    assert len(policy(bias=9.0, forced_length=2).trace(*asked()).profile) == 2
    with pytest.raises(ConfigError, match="forced_length"):
        policy(forced_length=-1)


def test_an_empty_pool() -> None:
    request, _, budget = asked()
    selection = policy().select(request, (), dataclasses.replace(budget, record_tokens=()))
    assert selection.is_empty
    assert selection.reason == "nothing to choose from"


def test_it_chooses_what_the_training_model_chooses() -> None:
    """And promises what it promises: a habit weighs choices, and is no part of a promise."""
    model = controller()
    curve = ((0.0, 0.0, 0.0, 0.0), (0.3, 0.1, 0.1, 0.1), (0.5, 0.1, 0.2, 0.1))
    pools = [features(n % 7 + 1, seed=n) for n in range(60)]
    stops = 0
    for trust in (1.0, 0.5, 0.2, 0.1):  # the less, the longer it goes on
        habit = Habit(HabitConfig(trust, 0.1), {} if trust == 1 else {OTHER: curve})
        fast = ControllerPolicy(dataclasses.replace(trained(model), habit=habit), BagEncoder())
        expected = roll_out(model, pools, POINT, habit=habit)
        for pool, (profile, promised) in zip(pools, expected, strict=True):
            trace = fast.decide(pool)
            assert trace.profile == profile
            first = trace.steps[0]
            assert first.values.promise(first.taken) == pytest.approx(promised, abs=1e-5)
            stops += first.taken is None
    assert 0 < stops < 4 * len(pools)


def test_an_unknown_task_is_named() -> None:
    _, pool, budget = asked()
    with pytest.raises(UnknownNameError, match="LaMP-2"):
        policy().select(make_request(LAMP_TASKS["LaMP-2"]), pool, budget)


def test_no_generator_is_imported_or_reached() -> None:
    """The package that decides knows neither generators nor the teacher's search."""
    import ast
    from pathlib import Path

    from enough.online import (
        batched_controller,
        batched_walk,
        decision_weights,
        fast_controller,
        policy,
    )

    for module in (batched_controller, batched_walk, decision_weights, fast_controller, policy):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        names = {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert not any(name.startswith(("enough.generators", "enough.teacher")) for name in names)
