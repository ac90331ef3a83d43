"""From scores to a pool, whatever the scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.records import Record
from enough.retrieval.ranking import best_first, retrieval_texts, unique
from enough.tasks import Task
from tests.conftest import make_record

SCORES = st.lists(st.floats(width=32) | st.sampled_from([0.0, 1.0, float("nan")]), max_size=30)


def history_of(count: int) -> tuple[Record, ...]:
    return tuple(make_record(1, id=str(i)) for i in range(count))


@given(SCORES, st.integers(-2, 40))
def test_every_pool_keeps_the_promise(scores: list[float], limit: int) -> None:
    history = history_of(len(scores))
    pool = best_first(history, scores, limit)
    assert len(pool) == min(max(limit, 0), len(scores))
    places = [int(candidate.record.id) for candidate in pool]
    assert len(set(places)) == len(places)
    found = [candidate.score for candidate in pool]
    assert all(np.isfinite(found))
    # Best first, and equal scores in the order of the history.
    assert sorted(zip(np.negative(found), places, strict=True)) == list(
        zip(np.negative(found), places, strict=True)
    )
    left_out = set(range(len(scores))) - set(places)
    known = [s for s in scores if np.isfinite(s)]
    if found and known and left_out:
        assert all(not np.isfinite(scores[i]) or scores[i] <= found[-1] for i in left_out)


def test_nan_is_last_and_finite() -> None:
    pool = best_first(history_of(4), [float("nan"), 2.0, float("-inf"), 5.0], 4)
    assert [(c.record.id, c.score) for c in pool] == [("3", 5), ("0", 2), ("1", 2), ("2", 2)]
    assert [c.score for c in best_first(history_of(2), [float("nan")] * 2, 2)] == [0, 0]


def test_one_score_per_record() -> None:
    with pytest.raises(ValueError, match="records"):
        best_first(history_of(3), [1.0], 1)


def test_braces_in_user_text_are_data() -> None:
    task = Task("t", "d", action_field="a", retrieval_text="{action}: {context}")
    record = make_record(context="{action} {0} }{", action="{context}")
    assert retrieval_texts(task, (record,)) == ["{context}: {action} {0} }{"]


def test_unique() -> None:
    assert unique(["b", "a", "b", ""]) == (["b", "a", ""], [0, 1, 0, 2])
