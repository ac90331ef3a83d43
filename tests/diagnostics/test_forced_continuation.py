"""Forced continuation: the four categories, the three orders, and who is compared with whom."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.controller.features import PoolFeatures
from enough.diagnostics.diagnostic import About
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import BarChart
from enough.diagnostics.stopping.continuation_outcomes import (
    ContinuationRow,
    ForcedContinuationConfig,
    category,
    reached_everywhere,
)
from enough.diagnostics.stopping.forced_continuation import (
    controller_order,
    left_records,
    measure,
    retriever_order,
)
from enough.diagnostics.stopping.forced_continuation_section import section
from enough.diagnostics.tried import Tried
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.online.fast_controller import FastController, Walk
from enough.online.policy import ControllerPolicy
from enough.teacher.components import TargetConfig
from tests.controller.toy import features
from tests.online.stand_ins import random_controller
from tests.retrieval.tiny import BagEncoder

ABOUT = About({}, TargetConfig(), 2, is_made_up=True)


@pytest.mark.parametrize(
    ("net", "score", "expected"),
    [
        (1.1, 0.2, "beneficial"),  # J rises, though the answer gets worse
        (1.0, 0.6, "cost-not-worth"),  # an equal J is no rise
        (0.3, 0.6, "cost-not-worth"),
        (0.3, 0.4, "harmful"),
        (1.0, 0.5, "redundant"),
        (0.3, 0.5, "redundant"),
    ],
)
def test_categories_by_hand(net: float, score: float, expected: str) -> None:
    assert category(1.0, 0.5, net, score) == expected


VALUE = st.integers(-2, 2).map(float) | st.floats(-5, 5)


@given(VALUE, VALUE, VALUE, VALUE)
def test_categories_are_exclusive_and_exhaustive(
    stopped_net: float, stopped_score: float, net: float, score: float
) -> None:
    rises, better, worse = net > stopped_net, score > stopped_score, score < stopped_score
    holds = {
        "beneficial": rises,
        "cost-not-worth": not rises and better,
        "harmful": not rises and worse,
        "redundant": not rises and not better and not worse,
    }
    assert [name for name, true in holds.items() if true] == [
        category(stopped_net, stopped_score, net, score)
    ]


def test_the_controllers_order_is_its_own_with_stop_masked() -> None:
    trained, pool = random_controller("", ""), features(4)  # a horizon of 3, room for all 4
    fast = FastController(trained)
    forced = ControllerPolicy(trained, BagEncoder(), forced_length=3).decide(pool).profile
    assert len(forced) == 3
    for done in range(3):
        assert controller_order(fast, pool, forced[:done], 3 - done) == forced
    past = controller_order(fast, pool, forced, 3)
    assert past[:3] == forced and sorted(past) == [0, 1, 2, 3]
    tight = replace(pool, room=int(pool.tokens[list(forced[:2])].sum()))
    assert len(controller_order(fast, tight, forced[:1], 3)) == 2


def test_the_controller_is_told_its_own_horizon_as_long_as_that_lasts() -> None:
    told: list[int] = []

    class Listening(FastController):
        def start(self, features: PoolFeatures) -> Walk:
            told.append(features.max_records)
            return super().start(features)

    controller_order(Listening(random_controller("", "")), features(4), (2,), 3)
    assert told == [3, 3, 4]  # for the second, the third and the fourth record


def test_the_retrievers_order_skips_what_is_taken_and_what_does_not_fit(lab: Laboratory) -> None:
    space = lab.subjects()[0].space
    assert len(space.budget.record_tokens) == 5 and space.budget.max_records == 3
    assert retriever_order(space, (), 2) == (0, 1)
    assert retriever_order(space, (1, 3), 2) == (1, 3, 0, 2)  # past the horizon
    assert retriever_order(space, (1, 3), 9) == (1, 3, 0, 2, 4)
    tokens = (50, 90, 40, 60, 10)
    small = replace(
        space,
        tokens=(*tokens, *space.tokens[5:]),
        budget=replace(space.budget, record_tokens=tokens, max_profile_tokens=100),
    )
    assert left_records(small, (0,)) == [2, 4]
    assert retriever_order(small, (0,), 3) == (0, 2, 4)


def test_continuations_of_a_toy_study(lab: Laboratory) -> None:
    rows = measure(lab, ForcedContinuationConfig())
    subjects = {one.space.case.example.request.id: one for one in lab.subjects()}
    ended = {row.tried.request_id: row for row in rows if row.depth == 0}
    assert list(ended) == list(subjects)
    assert {row.category for row in ended.values()} == {"stopped"}
    assert {(row.order, row.depth) for row in rows if row.depth} == {
        (order, depth) for order in ("controller", "retriever", "oracle") for depth in (1, 2, 3)
    }
    policy = lab.policy()
    for row in rows[len(ended) :]:
        at, subject = ended[row.tried.request_id].tried, subjects[row.tried.request_id]
        space, kept = subject.space, len(at.records)
        ids = [candidate.record.id for candidate in space.case.pool]
        assert at.net is not None and row.tried.net is not None
        assert row.tried.records[:kept] == at.records
        assert len(row.tried.records) == kept + row.depth == row.stopped_records + row.depth
        assert row.extra_tokens == sum(
            space.budget.record_tokens[ids.index(name)] for name in row.tried.records[kept:]
        )
        assert row.category == category(at.net, at.score, row.tried.net, row.tried.score)
        if row.depth > 1:
            continue
        added = ids.index(row.tried.records[-1])
        stopped = tuple(ids.index(name) for name in at.records)
        left = [place for place in range(len(ids)) if place not in stopped]
        if row.order == "controller":
            trace = policy.trace(space.case.example.request, space.case.pool, space.budget)
            assert added == trace.steps[-1].values.net.argmax()
        elif row.order == "retriever":
            assert added == left[0]
        else:
            worth = lab.components([(subject, (*stopped, place)) for place in left], "all")
            nets = {place: worth[space.case.name, (*stopped, place)][2] for place in left}
            assert nets[added] == max(nets.values()) == row.tried.net


def test_an_oracle_of_one_candidate_is_the_retriever(lab: Laboratory) -> None:
    rows = measure(lab, ForcedContinuationConfig(requests=3, depth=2, oracle_candidates=1))
    assert [row.tried.task for row in rows if row.depth == 0] == ["LaMP-4"] * 3 + ["LaMP-7"] * 3
    by_order: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        by_order.setdefault(row.order, []).append(row.tried.records)
    assert by_order["oracle"] == by_order["retriever"] != by_order["controller"]
    with pytest.raises(ConfigError, match="oracle_candidates"):
        ForcedContinuationConfig(oracle_candidates=-1)


def row(
    user: int, order: str, depth: int, kind: str, net: float = 0.0, stopped: int = 1
) -> ContinuationRow:
    tried = Tried("LaMP-4", f"q{user}", f"u{user}", (), 0, "", "", 0.0, 0.0, 0.0, 0.0, 0.0, net)
    return ContinuationRow(order, depth, kind, 100 * depth, stopped, 0.5, 0.0, tried)


def hand_made() -> list[ContinuationRow]:
    """Six users that can be continued twice, a seventh once, an eighth that was not stopped."""
    rows = [row(user, "policy", 0, "stopped") for user in range(7)]
    rows.append(row(7, "policy", 0, "could not go on"))
    for user in range(6):
        rows += [
            row(user, "controller", 1, "beneficial" if user < 3 else "redundant", 0.7),
            row(user, "controller", 2, "harmful", 0.1),
            row(user, "retriever", 1, "redundant"),
            row(user, "retriever", 2, "cost-not-worth"),
            row(user, "oracle", 1, "beneficial"),
            row(user, "oracle", 2, "redundant", stopped=1),
        ]
    return rows + [row(6, order, 1, "harmful") for order in ("controller", "retriever", "oracle")]


def test_only_prefixes_of_all_depths_are_compared() -> None:
    rows = hand_made()
    assert len(reached_everywhere(rows, 1)) == 7 and len(reached_everywhere(rows, 2)) == 6
    shown = section(rows, ForcedContinuationConfig(depth=2), ABOUT)
    common, paired, eligible, everybody = (panel.table.rows for panel in shown.panels)
    assert [line[:3] for line in common][:3] == [
        ("controller", "+1", 6),
        ("controller", "+2", 6),
        ("retriever", "+1", 6),
    ]
    first = common[0]
    assert [one.mean for one in first[3:] if isinstance(one, Interval)] == pytest.approx(
        [100, 0.5, 0.5, 0, 0, 0.2]
    )
    assert common[1][4:8] == (Interval(0, 0, 0),) * 3 + (Interval(1, 1, 1),)
    assert paired[0][0] == "controller: +2 less +1"
    means = [one.mean for one in paired[0] if isinstance(one, Interval)]
    assert means == pytest.approx([-0.5, 1, -0.6])
    assert paired[0][2] == Interval(1, 1, 1)
    # K_max is 2 and the prefixes have one record.
    assert eligible == (("+1", 7, 7, 7, 6, 0), ("+2", 6, 6, 6, 6, 6))
    assert everybody[0][2] == 7 and everybody[1][2] == 6
    charts = [chart for chart in shown.panels[0].charts if isinstance(chart, BarChart)]
    assert charts[0].is_stacked
    assert charts[0].values == ((0.5, 0.0), (0.5, 0.0), (0.0, 0.0), (0.0, 1.0))
    assert "stops by itself at 7 of 8 requests; 6 of them" in shown.answer
    assert "the harmful share is 100% (100% to 100%): more than after one." in shown.answer


def test_nothing_is_claimed_of_few_users_or_none() -> None:
    few = [one for one in hand_made() if one.tried.user in ("u0", "u1")]
    config = ForcedContinuationConfig(depth=2)
    assert "cannot be told from 2 prefixes" in section(few, config, ABOUT).answer
    none = section([row(0, "policy", 0, "could not go on")], config, ABOUT)
    assert none.answer.startswith("The policy stops by itself at 0 of 1 requests, none")
    assert none.panels[0].table.rows == () and none.panels[0].charts == ()
