"""Plackett–Luce: probabilities by hand, over everything that can be drawn, and of what is drawn."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from enough.baselines.plackett_luce import (
    Places,
    best_order,
    choice_sets,
    draw_orders,
    log_probability,
    stacked,
    take,
)


def probabilities(
    scores: list[float], profiles: list[Places], sizes: list[int], room: int
) -> list[float]:
    sets = [choice_sets(profile, sizes, room) for profile in profiles]
    places, choices = stacked(profiles, sets, len(scores))
    log_scores = torch.tensor(scores, dtype=torch.float64).log().repeat(len(profiles), 1)
    found: list[float] = log_probability(log_scores, places, choices).exp().tolist()
    return found


def test_by_hand() -> None:
    found = probabilities([1, 2, 3], [(2, 0), (0, 1), (1,)], [1, 1, 1], 9)
    assert found == pytest.approx([3 / 6 * 1 / 3, 1 / 6 * 2 / 5, 2 / 6])


@given(
    st.lists(st.floats(0.01, 100), min_size=1, max_size=5),
    st.integers(1, 5),
)
def test_all_ordered_profiles_sum_to_one(scores: list[float], k: int) -> None:
    k = min(k, len(scores))
    profiles = list(permutations(range(len(scores)), k))
    assert sum(probabilities(scores, profiles, [1] * len(scores), k)) == pytest.approx(1)


@given(st.lists(st.tuples(st.floats(0.1, 9), st.integers(1, 6)), min_size=1, max_size=5))
def test_and_all_that_fit_where_room_is_short(records: list[tuple[float, int]]) -> None:
    scores, sizes = [s for s, _ in records], [n for _, n in records]
    orders = permutations(range(len(scores)))
    profiles = sorted({take(order, sizes, 7, 3) for order in orders})
    assert sum(probabilities(scores, profiles, sizes, 7)) == pytest.approx(1)


def test_draws_follow_the_probabilities() -> None:
    scores, sizes, room = [1.0, 2.0, 4.0, 1.0], [5, 2, 3, 3], 6
    orders = draw_orders(np.log(scores), 20_000, np.random.default_rng(0))
    counts = Counter(take(order, sizes, room, 2) for order in orders)
    profiles = sorted(counts)
    assert (0,) in profiles  # nothing fits beside it
    expected = probabilities(scores, profiles, sizes, room)
    shares = [counts[profile] / 20_000 for profile in profiles]
    np.testing.assert_allclose(shares, expected, atol=0.01)


def test_what_does_not_fit_is_passed_over() -> None:
    assert take([2, 0, 1], [4, 3, 5], 8, 2) == (2, 1)
    assert take([2, 0, 1], [4, 3, 9], 8, 1) == (0,)
    assert best_order(np.array([1.0, 3.0, 3.0])).tolist() == [1, 2, 0]
