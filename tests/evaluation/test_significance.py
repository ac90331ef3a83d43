"""p-values against scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from enough.evaluation.intervals import Floats, Resampling
from enough.evaluation.significance import (
    Runs,
    against_all,
    bootstrap_p,
    holm,
    paired_t,
    student_tail,
)


def only(means: Floats) -> Floats:
    return means[..., 0]


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .03 .04: times 4, 3, 2, 1 is .04 .06 .06 .04, and never falling.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.6, 0.001]) == pytest.approx([1.0, 1.0, 0.003])
    assert holm([0.03]) == [0.03]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_only_raises_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(p <= c <= 1 for p, c in zip(p_values, corrected, strict=True))
    pairs = sorted(zip(p_values, corrected, strict=True))
    assert [c for _, c in pairs] == sorted(corrected)


def test_the_t_tail_is_that_of_scipy() -> None:
    for freedom in (1, 2, 3, 9, 29, 200):
        for t in (0.0, 1e-6, 0.3, 1.0, 2.2, 12.7, 80.0):
            expected = 2 * stats.t.sf(t, freedom)
            assert student_tail(t, freedom) == pytest.approx(expected, rel=1e-9)
            assert student_tail(-t, freedom) == pytest.approx(expected, rel=1e-9)


def test_the_paired_t_test_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for runs in (2, 3, 10):
        for _ in range(200):
            ours = rng.normal(0.3, 1, size=runs)
            theirs = ours * 0.5 + rng.normal(size=runs)
            expected = stats.ttest_rel(ours, theirs).pvalue
            assert paired_t(ours.tolist(), theirs.tolist()) == pytest.approx(expected, rel=1e-9)


def test_runs_that_do_not_vary_prove_nothing() -> None:
    assert paired_t([0.5], [0.4]) is None
    assert paired_t([0.5, 0.5, 0.5], [0.4, 0.4, 0.4]) is None
    assert paired_t([0.1 + 0.2, 0.3], [0.0, 0.0]) is None, "rounding is no variation"
    assert paired_t([0.0, 0.0], [0.0, 0.0]) is None


def test_the_bootstrap_p_value_by_hand() -> None:
    assert bootstrap_p(np.arange(1.0, 100.0), 50) == 2 / 100, "no draw beyond zero, and one more"
    assert bootstrap_p(-np.arange(1.0, 100.0), 50) == 2 / 100
    draws = np.concatenate([np.full(95, 1.0), np.full(4, -1.0)])
    assert bootstrap_p(draws, 50) == 2 * 5 / 100
    assert bootstrap_p(np.zeros(99), 50) == 1.0
    assert bootstrap_p(np.arange(1.0, 100.0), 5) == 1 / 16, "five users, all of one mind"


def test_one_method_against_all() -> None:
    rng = np.random.default_rng(2)
    users = [f"u{i // 2}" for i in range(200)]
    worse = np.abs(rng.normal(1, 0.2, size=(200, 1, 1)))
    ours = Runs((1, 2, 3), worse - 0.3 + rng.normal(0, 0.01, size=(200, 3, 1)))
    same = Runs(ours.seeds, ours.parts + rng.normal(0, 0.5, size=(200, 3, 1)))
    others = {
        "worse": Runs((1,), worse),
        "same": same,
        "elsewhere": Runs((7, 8), same.parts[:, :2]),
    }
    found = against_all(ours, others, Resampling(users), only, higher_is_better=False)
    by_name = {one.other: one for one in found}
    assert list(by_name) == ["worse", "same", "elsewhere"]
    clear = by_name["worse"]
    assert clear.difference.mean == pytest.approx(0.3, abs=0.01), "an error that is lower is better"
    assert clear.difference.low < clear.difference.mean < clear.difference.high
    assert [clear.p, clear.holm] == pytest.approx([2 / 2001, 6 / 2001])
    assert clear.t is not None and clear.t < 0.001, "a method with one run is the same in all"
    assert by_name["same"].holm > 0.05
    assert by_name["elsewhere"].t is None, "no common seed"
