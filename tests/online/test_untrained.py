"""The fallback by hand: what a record is worth, when it stops, and what it may never do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from enough.config import from_table
from enough.errors import ConfigError, UnknownNameError
from enough.online.untrained import UntrainedConfig, UntrainedSelector
from enough.protocols import Budget
from enough.records import Candidate, Pool
from tests.online.stand_ins import FOR_FREE, TableEncoder, asking, tweet

VECTORS = {
    "late bus": (1.0, 0.0, 0.0),
    "late train": (0.8, 0.6, 0.0),
    "late tram": (0.6, 0.8, 0.0),
    "coffee": (0.0, 0.0, 1.0),
}
REQUEST = asking("late bus")


def pool_of(*texts: str) -> Pool:
    return tuple(Candidate(tweet(text, text), 0.0) for text in texts)


ALL = pool_of("late train", "late tram", "coffee")


def selector(**settings: float) -> UntrainedSelector:
    values = {"least_relevance": 0.3, "diversity": 0.25, "price": 0.5} | settings
    return UntrainedSelector(TableEncoder(VECTORS), UntrainedConfig(**values))


def test_values_by_hand() -> None:
    """Cosines .8, .6, 0; the others' means .3, .4, .7; 128, 256 and 64 tokens of 1024."""
    trace = selector().trace(REQUEST, ALL, Budget(10, 1000, (128, 256, 64)))
    first, second = trace.steps
    np.testing.assert_allclose(first.values.actions[:, 0], [0.65, 0.4, -0.35], atol=1e-6)
    np.testing.assert_allclose(first.values.actions[:, 1], 0)
    np.testing.assert_allclose(first.values.actions[:, 2], [0.125, 0.25, 0.0625])
    np.testing.assert_allclose(first.values.net, [0.2875, -0.025, -0.68125], atol=1e-6)
    assert first.taken == 0
    assert first.margin == pytest.approx(-0.2875)
    np.testing.assert_allclose(second.values.actions[:, 1], [1, 0.96, 0], atol=1e-6)
    assert second.values.net[0] == -np.inf  # taken already
    np.testing.assert_allclose(second.values.net[1:], [-0.265, -0.68125], atol=1e-6)
    assert second.taken is None
    assert second.margin == pytest.approx(0.265)
    assert second.values.net_stop == 0
    assert math.isnan(second.stop_probability)  # nothing here is calibrated
    assert (trace.profile, trace.tokens, trace.reason) == ((0,), 128, "enough")


def test_an_only_record_is_taken_as_it_is() -> None:
    trace = selector().trace(REQUEST, pool_of("late tram"), Budget(10, 1000, (64,)))
    assert trace.steps[0].values.net[0] == pytest.approx(0.6 - 0.3 - 0.5 * 64 / 1024)


def test_a_tie_is_a_stop() -> None:
    pool, budget = pool_of("late bus"), Budget(10, 1000, (64,))
    stopped = selector(least_relevance=1.0, price=0.0).trace(REQUEST, pool, budget)
    assert (stopped.profile, stopped.steps[0].margin) == ((), 0)
    assert stopped.reason == "nothing is worth its tokens"
    assert selector(least_relevance=0.99, price=0.0).trace(REQUEST, pool, budget).profile == (0,)


def test_a_higher_price_takes_less() -> None:
    budget = Budget(10, 1000, (128, 256, 64))
    lengths = [
        len(selector(least_relevance=0.1, price=price).trace(REQUEST, ALL, budget).profile)
        for price in (0.0, 1.0, 9.0)
    ]
    assert lengths == [2, 1, 0]


def test_what_repeats_is_worth_less() -> None:
    budget = Budget(10, 1000, (10, 10, 10))
    greedy = selector(least_relevance=0.0, diversity=0.0, price=0.0)
    assert greedy.trace(REQUEST, ALL, budget).profile == (0, 1)
    varied = selector(least_relevance=0.0, diversity=0.9, price=0.0)
    assert varied.trace(REQUEST, ALL, budget).profile == (0,)


def test_the_horizon_and_the_room() -> None:
    many = pool_of("late bus", "late train", "late tram")
    free = UntrainedSelector(TableEncoder(VECTORS), FOR_FREE)
    ended = free.trace(REQUEST, many, Budget(2, 1000, (10, 10, 10)))
    assert (ended.profile, ended.reason) == ((0, 1), "as many as may be")
    assert len(ended.steps) == 2
    small = free.trace(REQUEST, many, Budget(3, 45, (40, 50, 5)))
    assert (small.profile, small.tokens) == ((0, 2), 45)


def test_equal_records_are_taken_in_the_order_of_the_pool() -> None:
    twins = tuple(Candidate(tweet(name, "late train"), 0.0) for name in ("a", "b"))
    found = UntrainedSelector(TableEncoder(VECTORS), FOR_FREE).select(
        REQUEST, twins, Budget(2, 1000, (10, 10))
    )
    assert [record.id for record in found.records] == ["a", "b"]


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(0, 1000, (5,)), "as many as may be"),
        (Budget(3, 4, (5,)), "no further record fits"),
    ],
)
def test_nothing_that_may_be_taken(budget: Budget, reason: str) -> None:
    trace = selector().trace(REQUEST, pool_of("late bus"), budget)
    assert (trace.steps, trace.profile, trace.reason) == ((), (), reason)
    assert selector().select(REQUEST, (), Budget(3, 100, ())).is_empty


def test_settings_are_strict() -> None:
    assert from_table({"price": 1}, UntrainedConfig, "x.toml") == UntrainedConfig(price=1.0)
    with pytest.raises(UnknownNameError, match="prize"):
        from_table({"prize": 1}, UntrainedConfig, "x.toml")
    with pytest.raises(ConfigError, match=r"x.toml: untrained.diversity must be at least 0"):
        from_table({"diversity": -0.5}, UntrainedConfig, "x.toml")
    with pytest.raises(ConfigError, match="nan"):
        UntrainedConfig(price=math.nan)
