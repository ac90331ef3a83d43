from __future__ import annotations

import functools
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.data.splits import (
    SliceConfig,
    draw_examples,
    require_disjoint,
    returning,
    slice_by_user,
    study_slices,
)
from enough.errors import ConfigError, DataError
from enough.records import Dataset, Example, Request
from tests.data.world import MOVIES, movie_input

SHARES = {"tune": 0.3, "label": 0.4, "select": 0.1, "report": 0.2}


def examples(users: list[str], split: str = "train") -> tuple[Example, ...]:
    return tuple(
        Example(Request(f"{split}-{i}", user, MOVIES, movie_input("A dog.")), "comedy")
        for i, user in enumerate(users)
    )


def people(slices: dict[str, tuple[Example, ...]]) -> dict[str, set[str]]:
    return {name: {e.request.user for e in part} for name, part in slices.items()}


USERS = [f"user {i % 700}" for i in range(1500)]


def test_slices_have_about_their_shares_and_everybody_is_in_one() -> None:
    slices = slice_by_user(examples(USERS), SHARES, seed=3)
    require_disjoint(slices)
    assert sum(len(part) for part in slices.values()) == 1500
    for name, users in people(slices).items():
        assert len(users) / 700 == pytest.approx(SHARES[name], abs=0.05)
    for part in slices.values():
        numbers = [int(e.request.id.removeprefix("train-")) for e in part]
        assert numbers == sorted(numbers)


@given(st.lists(st.text(max_size=3), max_size=30), st.text(max_size=3), st.integers())
def test_a_users_slice_does_not_depend_on_the_others(users: list[str], one: str, seed: int) -> None:
    (alone,) = (n for n, part in slice_by_user(examples([one]), SHARES, seed).items() if part)
    assert one in people(slice_by_user(examples([*users, one]), SHARES, seed))[alone]


def test_another_seed_deals_anew() -> None:
    first, second = (slice_by_user(examples(USERS), SHARES, seed)["label"] for seed in (1, 2))
    assert first != second


def test_shares_below_one_leave_users_out() -> None:
    slices = slice_by_user(examples(USERS), {"a": 0.25, "b": 0.25}, seed=1)
    assert len(people(slices)["a"] | people(slices)["b"]) / 700 == pytest.approx(0.5, abs=0.06)


def test_shares_that_add_up_to_one_but_for_rounding_leave_nobody_out() -> None:
    shares = {str(i): 0.1 for i in range(10)}
    assert functools.reduce(operator.add, shares.values()) < 1  # `sum` may round better
    slices = slice_by_user(examples(USERS), shares, seed=1)
    assert sum(len(part) for part in slices.values()) == 1500


@pytest.mark.parametrize(
    "shares", [{}, {"a": 0.7, "b": 0.7}, {"a": -0.1}, {"a": 0.0}, {"a": float("nan")}]
)
def test_impossible_shares(shares: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="share"):
        slice_by_user([], shares, seed=1)


def test_a_study_never_shares_a_user_though_the_splits_do() -> None:
    train = examples([f"user {i}" for i in range(600)])
    dev = examples([f"user {i}" for i in range(300, 900)], "dev")
    slices = study_slices(Dataset(MOVIES, {}, {"train": train, "dev": dev}), SHARES, seed=5)
    require_disjoint(slices)
    by_split = {n: {e.request.id.split("-")[0] for e in part} for n, part in slices.items()}
    assert by_split == {
        "tune": {"train"},
        "label": {"train"},
        "select": {"train"},
        "report": {"dev"},
    }
    only_train, only_dev = (
        {f"user {i}" for i in range(300)},
        {f"user {i}" for i in range(600, 900)},
    )
    dealt = people(slices)
    assert only_dev < dealt["report"]
    assert only_train < dealt["tune"] | dealt["label"] | dealt["select"]


def test_who_returns_was_met_and_is_not_reported() -> None:
    dealt = SliceConfig(seed=5)
    train = examples([f"user {i}" for i in range(600)])
    dev = examples([f"user {i}" for i in range(300, 900)], "dev")
    dataset = Dataset(MOVIES, {}, {"train": train, "dev": dev})
    slices = study_slices(dataset, dealt.shares, dealt.seed)
    again = returning(dataset, dealt)
    assert list(again) == ["tune", "label", "select"]
    for name, part in again.items():
        assert part, name
        assert {e.request.user for e in part} <= {e.request.user for e in slices[name]}
    asked = [e.request.id for part in (*again.values(), slices["report"]) for e in part]
    assert sorted(asked) == sorted(e.request.id for e in dev), "all of dev, each once"
    only_others = Dataset(MOVIES, {}, {"train": train[:300], "dev": dev})
    assert not any(returning(only_others, dealt).values())


def test_examples_are_drawn_from_a_split_or_a_slice() -> None:
    users = [f"u{n}" for n in range(200)]
    dataset = Dataset(MOVIES, {}, {"train": examples(users[:150]), "dev": examples(users[150:])})
    assert draw_examples(dataset, "dev", 0, 0) == list(dataset.splits["dev"])
    parts = {
        name: draw_examples(dataset, name, 0, 0, SliceConfig())
        for name in ("tune", "label", "select", "report")
    }
    assert all(parts.values())
    require_disjoint(parts)
    assert {e.request.user for e in parts["report"]} <= set(users[150:])
    assert len(draw_examples(dataset, "label", 3, 0, SliceConfig())) == 3
    with pytest.raises(ConfigError, match="at most 1"):
        SliceConfig(tune=0.9)


def test_a_study_needs_a_reported_slice_another_one_and_both_splits() -> None:
    dataset = Dataset(MOVIES, {}, {"train": examples(["a"])})
    with pytest.raises(ConfigError, match="need a slice 'report'"):
        study_slices(dataset, {"tune": 0.5}, seed=1)
    with pytest.raises(ConfigError, match="beside 'report'"):
        study_slices(dataset, {"report": 0.5}, seed=1)
    with pytest.raises(DataError, match="no split 'dev'; it has: train"):
        study_slices(dataset, SHARES, seed=1)


def test_a_shared_user_is_named() -> None:
    with pytest.raises(DataError, match="user 'bob' is in both 'a' and 'b'"):
        require_disjoint({"a": examples(["ann", "bob"]), "b": examples(["bob", "cay"])})
