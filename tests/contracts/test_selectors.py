"""One suite for every selector: what `protocols.Selector` promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.baselines.fixed import FixedLength
from enough.online.policy import ControllerPolicy
from enough.online.untrained import UntrainedConfig, UntrainedSelector
from enough.protocols import Budget, Selector
from enough.records import Candidate
from tests.conftest import make_record, make_request
from tests.controller.toy import controller
from tests.online.test_fast_controller import trained
from tests.retrieval.tiny import BagEncoder

SELECTORS: dict[str, Selector] = {
    **{f"fixed-{k}": FixedLength(k) for k in (0, 1, 3, 5, 10)},
    "controller": ControllerPolicy(trained(controller(("LaMP-2",))), BagEncoder()),
    "untrained": UntrainedSelector(BagEncoder()),
    "untrained, for free": UntrainedSelector(BagEncoder(), UntrainedConfig(0, 0, 0)),
}


@pytest.mark.parametrize("name", SELECTORS)
@given(
    tokens=st.lists(st.integers(1, 400), max_size=12),
    max_records=st.integers(0, 12),
    room=st.integers(0, 1000),
)
def test_legal_distinct_and_within_budget(
    name: str, tokens: list[int], max_records: int, room: int
) -> None:
    pool = tuple(Candidate(make_record(i + 1), 1.0 / (i + 1)) for i in range(len(tokens)))
    budget = Budget(max_records, room, tuple(tokens))
    selection = SELECTORS[name].select(make_request(), pool, budget)
    cost = {c.record.id: n for c, n in zip(pool, tokens, strict=True)}
    ids = [record.id for record in selection.records]
    assert len(set(ids)) == len(ids) <= max_records
    assert set(ids) <= cost.keys()
    assert sum(cost[i] for i in ids) <= room
    assert selection == SELECTORS[name].select(make_request(), pool, budget)
    assert selection.reason


def test_a_record_that_does_not_fit_whole_is_passed_over() -> None:
    pool = tuple(Candidate(make_record(i), 1.0) for i in (1, 2, 3))
    selection = FixedLength(2).select(make_request(), pool, Budget(10, 100, (60, 50, 40)))
    assert [record.id for record in selection.records] == ["r1", "r3"]
    assert not selection.is_empty
