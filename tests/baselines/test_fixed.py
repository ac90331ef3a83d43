"""Lengths, tokens and thresholds by hand; every selector keeps to what selectors promise."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.baselines.fixed import (
    EmptyConfig,
    FixedConfig,
    FixedTokens,
    FixedTokensConfig,
    FullConfig,
    ScoreThreshold,
    ThresholdConfig,
)
from enough.errors import ConfigError
from enough.protocols import Budget, Selector
from enough.records import Candidate
from tests.baselines.stand_ins import OpenFake, ask, films, ids, make_tools
from tests.conftest import make_record, make_request

POOL = tuple(
    Candidate(make_record(i + 1), score) for i, score in enumerate((0.9, 0.5, 0.5, 0.2, 0.1))
)
BUDGET = Budget(max_records=4, max_profile_tokens=1000, record_tokens=(60, 50, 30, 40, 10))


def chosen(selector: Selector, budget: Budget = BUDGET) -> list[str]:
    return ids(selector.select(make_request(), POOL, budget).records)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (0, []),
        (9, []),
        (100, ["r1", "r3", "r5"]),  # 60, then 50 is too much, 30, then 40 is too much, 10
        (110, ["r1", "r2"]),
        (1000, ["r1", "r2", "r3", "r4"]),  # the horizon is four
    ],
)
def test_fixed_tokens(tokens: int, expected: list[str]) -> None:
    assert chosen(FixedTokens(tokens)) == expected


def test_fixed_tokens_within_the_window() -> None:
    tight = dataclasses.replace(BUDGET, max_profile_tokens=95)
    assert chosen(FixedTokens(1000), tight) == ["r1", "r3"]


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.91, []), (0.9, ["r1"]), (0.5, ["r1", "r2", "r3"]), (-1.0, ["r1", "r2", "r3", "r4"])],
)
def test_a_threshold_is_met_or_not(score: float, expected: list[str]) -> None:
    assert chosen(ScoreThreshold(score)) == expected


def test_a_record_above_the_threshold_that_does_not_fit_is_passed_over() -> None:
    tight = dataclasses.replace(BUDGET, max_profile_tokens=95)
    assert chosen(ScoreThreshold(0.5), tight) == ["r1", "r3"]


@pytest.mark.parametrize("selector", [FixedTokens(300), ScoreThreshold(0.4)], ids=str)
@given(
    tokens=st.lists(st.integers(1, 400), max_size=12),
    max_records=st.integers(0, 12),
    room=st.integers(0, 1000),
)
def test_within_the_budget(
    selector: Selector, tokens: list[int], max_records: int, room: int
) -> None:
    pool = tuple(Candidate(make_record(i + 1), 1.0 / (i + 1)) for i in range(len(tokens)))
    selection = selector.select(make_request(), pool, Budget(max_records, room, tuple(tokens)))
    cost = {c.record.id: n for c, n in zip(pool, tokens, strict=True)}
    taken = ids(selection.records)
    assert len(set(taken)) == len(taken) <= max_records
    assert sum(cost[i] for i in taken) <= room


def test_empty_and_fixed_profiles_answer_with_one_call() -> None:
    generator = OpenFake()
    tools = make_tools(generator)
    asked = ask(tools, films(*"abcdefg"))
    assert EmptyConfig().build(tools).answer(asked).records == ()
    answered = FixedConfig(k=3).build(tools).answer(asked)
    assert ids(answered.records) == ["r1", "r2", "r3"]
    assert answered.profile_tokens == sum(asked.budget.record_tokens[:3])
    assert (answered.text, answered.one_prompt) == ("tag3", True)
    assert len(generator.prompts) == 2


def test_full_is_more_than_the_horizon() -> None:
    tools = make_tools(max_records=2)
    asked = ask(tools, films(*"abcdefg"))
    assert asked.budget.max_records == 2
    assert len(FullConfig().build(tools).answer(asked).records) == 7
    assert len(FixedConfig(k=7).build(tools).answer(asked).records) == 2


def test_full_is_what_fits() -> None:
    wide = make_tools()
    asked = ask(wide, films("short", "long " * 50, "short"))
    empty = len(wide.prompter.prompt(asked.request).tokens) + asked.request.task.max_answer_tokens
    first, _, third = asked.budget.record_tokens
    narrow = make_tools(OpenFake(window=empty + first + third))
    answered = FullConfig().build(narrow).answer(asked)
    assert ids(answered.records) == ["r1", "r3"]
    assert answered.profile_tokens == first + third


def test_settings_build_what_they_say() -> None:
    tools = make_tools()
    asked = ask(tools, films(*"abcdefg"))
    one = asked.budget.record_tokens[0]
    answered = FixedTokensConfig(tokens=2 * one).build(tools).answer(asked)
    assert ids(answered.records) == ["r1", "r2"]
    answered = ThresholdConfig(score=0.3).build(tools).answer(asked)  # scores 1, 1/2, 1/3, 1/4, ...
    assert ids(answered.records) == ["r1", "r2", "r3"]


def test_impossible_settings() -> None:
    with pytest.raises(ConfigError, match="k must be at least 0"):
        FixedConfig(k=-1)
    with pytest.raises(ConfigError, match="tokens must be at least 0"):
        FixedTokensConfig(tokens=-1)
    with pytest.raises(ConfigError, match="score must be a number"):
        ThresholdConfig(score=float("nan"))
