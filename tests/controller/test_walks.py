"""Ways through requests: by models that never saw them, in the pool's order, on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from enough.controller.crossfit import Folds
from enough.controller.examples import LabelledRequest
from enough.controller.rollout import roll_out
from enough.controller.visiting import states_along
from enough.controller.walks import (
    WALKS,
    out_of_fold_walks,
    read_walks,
    retriever_walks,
    walks_of,
    write_walks,
)
from enough.errors import DataError
from enough.teacher.components import TargetConfig
from tests.controller.toy import controller, labelled

POINT = TargetConfig()


def of_user(number: int) -> LabelledRequest:
    """A request with a user and a name of its own."""
    found = labelled(4, seed=number)
    of = dataclasses.replace(found.tree.of, user=f"u{number}", request=f"q{number}")
    return dataclasses.replace(found, tree=dataclasses.replace(found.tree, of=of))


def test_every_request_is_walked_by_the_model_of_its_fold() -> None:
    learn, select = [of_user(i) for i in range(8)], [of_user(i) for i in (8, 9)]
    folds = Folds(2, {f"u{i}": i % 2 for i in range(8)})
    first, second = controller(), controller(hidden=32)
    found = out_of_fold_walks(learn, select, [first, second], folds, POINT)
    assert found.keys() == {one.name for one in [*learn, *select]}
    for number, one in enumerate(learn):
        model = (first, second)[number % 2]
        ((expected, _),) = roll_out(model, [one.features], POINT, 3)
        assert found[one.name] == expected
    assert {one.name: found[one.name] for one in select} == walks_of(first, select, POINT)
    assert walks_of(first, learn, POINT) != walks_of(second, learn, POINT)


def test_walks_go_to_the_horizon_or_as_far_as_asked() -> None:
    one = of_user(0)
    (whole,) = walks_of(controller(), [one], POINT).values()
    assert len(whole) == one.features.max_records == 3
    (own,) = walks_of(controller(), [one], POINT, 0).values()
    assert whole[: len(own)] == own


def test_the_retrievers_order_passes_over_what_does_not_fit() -> None:
    of = of_user(0).tree.of
    assert (of.max_records, len(of.pool)) == (3, 4)
    small = dataclasses.replace(
        of, record_tokens=(200, 400, 250, 60), max_profile_tokens=500, request="small"
    )
    assert retriever_walks([of, small]) == {of.name: (0, 1, 2), small.name: (0, 2)}


def test_states_along_several_ways_are_each_named_once() -> None:
    walks = [{"a": (3, 1), "b": ()}, {"a": (3, 2), "c": (0,)}]
    assert states_along(walks) == {"a": ((3,), (3, 1), (3, 2)), "b": (), "c": ((0,),)}


def test_on_disk(tmp_path: Path) -> None:
    requests = [of_user(0), of_user(1)]
    write_walks(tmp_path, {requests[0].name: (2, 0), "other/q": (1,)})
    assert read_walks(tmp_path, [requests[0].name]) == {requests[0].name: (2, 0)}
    with pytest.raises(DataError, match=rf"{WALKS}: has no walk through .*q1"):
        read_walks(tmp_path, [one.name for one in requests])
    with pytest.raises(DataError, match="written by a training with"):
        read_walks(tmp_path / "nowhere", [])
