from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given, settings

from enough.baselines.fixed import FixedLength
from enough.evaluation.sufficiency import (
    SufficiencyRow,
    judge,
    judge_all,
    selected_profile,
    sufficiency_curve,
    summarise,
)
from enough.prompts.profile_sequences import Profile
from enough.protocols import Budget
from enough.records import Pool, Request, Selection
from enough.teacher.components import Scale, TargetConfig, raw_components, scaled_components
from enough.teacher.oracle import Exact, exact_tree, exact_values
from enough.teacher.oracle_config import OracleConfig
from tests.teacher.cases import make_case, make_subject, random_score, tree_of_values
from tests.teacher.test_proposition_1 import exact_trees

HAND = tree_of_values(
    {(): -4.0, (0,): -3.5, (1,): -3.0, (0, 1): -2.875, (1, 0): -2.9375}, (100, 300), 2
)


def hand(epsilon: float = 0.125, lambda_: float = 1.0) -> Exact:
    """U = 0, .5, 1, 1.125, 1.0625; with λ = 1 J = 0, .402, .707, .734, .672.

    U* and J* are those of (0, 1); (1) lacks .125 and is the cheapest sufficient profile. Before
    nothing and after (0) it is best to go on, after (1) it is best to stop.
    """
    return exact_values(HAND, raw_components(HAND), TargetConfig(0.4, lambda_), epsilon)


@pytest.mark.parametrize(
    ("profile", "regret", "utility_regret", "excess", "decisions", "agreements", "continues"),
    [
        ((), 1.125 - 400 / 1024, 1.125, 0, 1, 0, 1),
        ((0,), 0.625 - 300 / 1024, 0.625, 0, 2, 1, 2),
        ((1,), 0.125 - 100 / 1024, 0.125, 0, 2, 2, 1),
        ((0, 1), 0.0, 0.0, 100, 2, 2, 2),
        ((1, 0), 0.0625, 0.0625, 100, 2, 1, 1),
    ],
)
def test_rows_by_hand(
    profile: Profile,
    regret: float,
    utility_regret: float,
    excess: int,
    decisions: int,
    agreements: int,
    continues: int,
) -> None:
    row = judge(hand(), "someone", profile)
    assert row == SufficiencyRow(
        task="LaMP-7",
        request_id="q1",
        selector="someone",
        profile=profile,
        tokens=sum((100, 300)[place] for place in profile),
        regret=regret,
        utility_regret=utility_regret,
        is_sufficient=utility_regret <= 0.125,
        excess_tokens=excess,
        decisions=decisions,
        agreements=agreements,
        continues=continues,
    )


def test_the_oracle_itself() -> None:
    exact = hand(epsilon=0.0)
    row = judge(exact, "oracle", HAND.profiles[exact.best])
    assert (row.regret, row.is_sufficient, row.excess_tokens) == (0, True, 0)
    (line,) = summarise([row])
    assert (line.sufficient, line.stop_agreement) == (1, 1)


def test_the_best_net_profile_need_not_be_minimal_or_sufficient() -> None:
    """What λ says is worth its tokens is another question than what lacks at most ε."""
    assert judge(hand(), "oracle", HAND.profiles[hand().best]).excess_tokens == 100
    dear = hand(lambda_=10.0)
    row = judge(dear, "oracle", HAND.profiles[dear.best])
    assert (row.profile, row.regret, row.is_sufficient) == ((), 0, False)


@settings(deadline=None)
@given(exact_trees())
def test_what_holds_for_every_tree(exact: Exact) -> None:
    profiles = exact.tree.profiles
    oracle = judge(exact, "oracle", profiles[exact.best])
    assert oracle.regret == 0
    assert oracle.agreements == oracle.decisions
    minimal = judge(exact, "minimal", profiles[exact.minimal])
    assert minimal.is_sufficient
    assert minimal.excess_tokens == 0
    for profile in profiles:
        row = judge(exact, "any", profile)
        assert row.regret >= 0 <= row.utility_regret
        assert row.agreements <= row.decisions >= row.continues


def test_a_profile_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"someone chose \(2,\)"):
        judge(hand(), "someone", (2,))


def test_rows_of_all_that_is_compared() -> None:
    subject, config, scale = make_subject(make_case(6)), OracleConfig(), Scale(1.0, 0.5)
    tree = exact_tree(subject, config, random_score)
    exact = exact_values(tree, scaled_components(tree, scale), config.targets, config.epsilon)
    rows = {row.selector: row for row in judge_all(exact, subject, config, scale)}
    assert rows["exact oracle"].regret == 0
    assert rows["minimal sufficient"].excess_tokens == 0
    assert rows["empty"].profile == ()
    assert [rows[f"fixed k={k}"].profile for k in (1, 4)] == [(0,), (0, 1, 2, 3)]
    assert rows["fixed k=4"].decisions == 4  # the horizon ends it: not to stop was no choice
    assert rows["myopic"].regret <= rows["empty"].regret
    assert rows["bounded teacher"].regret <= rows["myopic"].regret
    assert "bounded, one slot" in rows


class LastFirst:
    """The two last records of the pool, the last first."""

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        assert budget.max_records == 4
        return Selection((pool[-1].record, pool[-2].record), "by hand")


def test_a_selector_sees_the_reduced_pool() -> None:
    subject = make_subject(make_case(6))
    assert selected_profile(LastFirst(), subject) == (5, 4)
    assert selected_profile(FixedLength(2), subject) == (0, 1)


def test_summaries_are_pooled_over_requests_and_decisions() -> None:
    exact = hand()
    rows = [judge(exact, "a", (0, 1)), judge(exact, "a", ()), judge(exact, "b", (1,))]
    first, second = summarise(rows)
    assert (first.selector, first.task, first.requests) == ("a", "all", 2)
    assert (first.records, first.tokens, first.excess_tokens) == (1, 200, 50)
    assert first.regret == (1.125 - 400 / 1024) / 2
    assert (first.utility_regret, first.sufficient) == (0.5625, 0.5)
    assert (first.stop_agreement, first.always_continue) == (2 / 3, 1)
    assert (second.selector, second.stop_agreement, second.always_continue) == ("b", 1, 0.5)
    assert summarise(rows, "LaMP-7")[0] == type(first)(**asdict(first) | {"task": "LaMP-7"})
    assert summarise(rows, "LaMP-1") == []


def test_no_decision_is_no_share() -> None:
    tree = tree_of_values({(): -1.0}, (), 0)
    exact = exact_values(tree, raw_components(tree), TargetConfig(), 0.1)
    (line,) = summarise([judge(exact, "empty", ())])
    assert (line.stop_agreement, line.always_continue) == (None, None)


def test_the_curve_over_epsilon() -> None:
    rows = [judge(hand(), "a", profile) for profile in [(0, 1), (1,), (0,), ()]]
    points = sufficiency_curve(rows, (0.0, 0.125, 0.7, 2.0))
    assert [(point.epsilon, point.sufficient) for point in points] == [
        (0.0, 0.25),
        (0.125, 0.5),
        (0.7, 0.75),
        (2.0, 1.0),
    ]
