"""Recency and random order."""

from __future__ import annotations

from collections import Counter

from enough.retrieval.random_order import RandomRetriever
from enough.retrieval.recency import RecencyRetriever
from tests.conftest import make_record, make_request


def ids(pool: object) -> list[str]:
    return [candidate.record.id for candidate in pool]  # type: ignore[attr-defined]


def test_recency_goes_by_time_then_by_place() -> None:
    moments = [(2020, 5), None, (2019,), (2020, 5), (2020, 5, 1)]
    history = tuple(make_record(i + 1, moment=moment) for i, moment in enumerate(moments))
    pool = RecencyRetriever().retrieve(make_request(), history, 9)
    assert ids(pool) == ["r5", "r4", "r1", "r3", "r2"]
    assert [c.score for c in pool] == [1.0, 0.8, 0.6, 0.4, 0.2]


def test_recency_without_times_is_the_logs_order() -> None:
    history = tuple(make_record(i, moment=None) for i in (1, 2, 3))
    assert ids(RecencyRetriever().retrieve(make_request(), history, 2)) == ["r3", "r2"]


def test_random_order_is_drawn_per_request_and_not_per_call() -> None:
    history = tuple(make_record(i) for i in range(1, 21))
    one, other = make_request(id="q1"), make_request(id="q2")
    first = ids(RandomRetriever(3).retrieve(one, history, 20))
    fresh = RandomRetriever(3)
    assert ids(fresh.retrieve(other, history, 20)) != first
    assert ids(fresh.retrieve(one, history, 20)) == first
    assert ids(RandomRetriever(4).retrieve(one, history, 20)) != first
    assert ids(fresh.retrieve(one, history[1:], 20)) == [i for i in first if i != "r1"]


def test_random_order_is_fair() -> None:
    history = tuple(make_record(i) for i in range(1, 5))
    firsts = Counter(
        ids(RandomRetriever().retrieve(make_request(id=str(n)), history, 1))[0] for n in range(2000)
    )
    assert all(420 < count < 580 for count in firsts.values())
