"""Means, intervals over users, and the best fixed length chosen elsewhere; by hand."""

from __future__ import annotations

import numpy as np
import pytest

from enough.evaluation.comparison import BEST, BEST_PER_TASK, best_fixed, compare, with_best_fixed
from enough.evaluation.intervals import clustered
from enough.evaluation.outcomes import Outcome


def row(
    selector: str,
    request: int,
    net: float,
    *,
    task: str = "t",
    profile: tuple[str, ...] = ("a",),
    gain: float = 0.0,
    promised: float | None = None,
) -> Outcome:
    return Outcome(
        task=task,
        request_id=f"q{request}",
        user=f"u{request // 2}",
        selector=selector,
        beta=0.4,
        lambda_=0.1,
        profile=profile,
        tokens=10 * len(profile),
        gain=gain,
        specificity=0.0,
        net=net,
        promised=promised,
    )


def test_one_user_has_no_width_and_many_have_the_usual_one() -> None:
    alone = clustered([1.0, 2.0, 3.0], ["u", "u", "u"])
    assert (alone.mean, alone.low, alone.high) == (2.0, 2.0, 2.0)
    rng = np.random.default_rng(1)
    values = rng.normal(size=400)
    found = clustered(values, [str(i) for i in range(400)])
    half = 1.96 * values.std() / 20
    assert found.high - found.low == pytest.approx(2 * half, rel=0.1)
    twice = clustered(np.repeat(values, 4), [str(i // 4) for i in range(1600)])
    assert twice.high - twice.low == pytest.approx(2 * half, rel=0.1), "copies are no evidence"
    with pytest.raises(ValueError, match="no values"):
        clustered([], [])


def test_the_best_fixed_length_is_chosen_on_other_rows() -> None:
    chosen_on = [
        row("k=0", 0, 0.0, task="a"),
        row("k=0", 1, 0.0, task="b"),
        row("k=1", 0, 0.5, task="a"),
        row("k=1", 1, -0.2, task="b"),
    ]
    overall, per_task = best_fixed(chosen_on, ["k=0", "k=1"])
    assert overall == "k=1"
    assert per_task == {"a": "k=1", "b": "k=0"}
    reported = [
        row("k=0", 5, 0.0, task="a"),
        row("k=1", 5, -1.0, task="a"),
        row("k=0", 6, 0.0, task="b"),
        row("k=1", 6, 2.0, task="b"),
    ]
    named = {(r.selector, r.task): r.net for r in with_best_fixed(reported, overall, per_task)}
    assert named[BEST, "a"] == -1.0, "chosen there, paid for here"
    assert named[BEST, "b"] == 2.0
    assert named[BEST_PER_TASK, "b"] == 0.0


def test_lines_by_hand() -> None:
    rows = [
        row("k=1", 0, 0.2, gain=0.3),
        row("k=1", 1, -0.4, gain=-0.3),
        row("ours", 0, 0.5, profile=("a", "b"), gain=0.6, promised=0.7),
        row("ours", 1, 0.0, profile=(), promised=0.1),
    ]
    lines = {line.selector: line for line in compare(with_best_fixed(rows, "k=1", {}))}
    ours = lines["ours"]
    assert ours.net.mean == pytest.approx(0.25)
    assert ours.against_fixed.mean == pytest.approx((0.3 + 0.4) / 2)
    assert (ours.tokens, ours.records, ours.root_stop, ours.harm) == (10, 1, 0.5, 0)
    assert ours.gap == pytest.approx(((0.7 - 0.5) + 0.1) / 2)
    assert lines["k=1"].harm == 0.5
    assert lines["k=1"].gap is None
    assert lines[BEST].against_fixed.mean == 0
