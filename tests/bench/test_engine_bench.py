"""Another engine against the same model here."""

from __future__ import annotations

import numpy as np
import pytest

from enough.bench.engines import drawn, run_engine_bench
from tests.generators.test_remote import profiles
from tests.generators.toy_server import ToyGenerator, ToyServer, toy_remote


def test_the_same_model_differs_by_nothing() -> None:
    server = ToyServer()
    sequences = profiles(server.tokenizer, 12)
    found = run_engine_bench(toy_remote("sglang", server), ToyGenerator(), sequences)
    assert (found.max_abs_diff, found.mean_abs_diff, found.own_noise) == (0.0, 0.0, 0.0)
    assert (found.profiles, found.same_best) == (12, 1.0)
    assert found.distinct_tokens < found.tokens
    assert found.ratio == pytest.approx(found.profiles_per_s / found.here_profiles_per_s)


def test_differences_are_seen() -> None:
    class Other(ToyGenerator):
        def score(self, *given):  # type: ignore[no-untyped-def]
            scores = super().score(*given)
            return scores + np.linspace(0.0, 2.0, len(scores))

    sequences = profiles(ToyServer().tokenizer, 12)
    found = run_engine_bench(Other(), ToyGenerator(), sequences)
    assert found.max_abs_diff == pytest.approx(2.0)
    assert found.mean_abs_diff == pytest.approx(1.0)


def test_profiles_are_drawn_in_their_order() -> None:
    sequences = profiles(ToyServer().tokenizer, 12)
    some = drawn(sequences, 5, seed=1)
    places = [next(i for i, one in enumerate(sequences) if one is chosen) for chosen in some]
    assert places == sorted(set(places))
    assert len(places) == 5
