"""Means and the quality index, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from enough.diagnostics.summaries import quality, summarise
from enough.diagnostics.tried import Tried
from enough.tasks import LAMP_TASKS

RATING, CITATION = LAMP_TASKS["LaMP-3"], LAMP_TASKS["LaMP-1"]
TASKS = {task.name: task for task in (RATING, CITATION)}


def rated(number: int, answer: str, *, tokens: int = 10, net: float | None = 0.5) -> Tried:
    """The reference is 3; without a profile the answer is 2."""
    return Tried(
        task=RATING.name,
        request_id=f"q{number}",
        user=f"u{number}",
        records=("a",) if tokens else (),
        tokens=tokens,
        answer=answer,
        reference="3",
        score=-abs(int(answer) - 3),
        empty_score=-1.0,
        log_likelihood_gain=0.25,
        gain=1.0,
        specificity=0.5,
        net=net,
    )


def test_means_by_hand() -> None:
    rows = [rated(0, "3"), rated(1, "5", tokens=30), rated(2, "2", tokens=0)]
    found = summarise(rows, rows, TASKS)
    assert found.requests == 3
    assert found.tokens.mean == pytest.approx(40 / 3)
    assert found.harm.mean == pytest.approx(1 / 3)  # 5 is farther from 3 than 2 is
    assert found.root_stop == pytest.approx(1 / 3)
    assert found.net is not None and found.net.mean == 0.5
    assert found.quality is not None and found.quality.mean == 100


def test_quality_divides_errors_the_other_way() -> None:
    """MAE 1 against 2 is 200%, RMSE 1 against 2 likewise: an index of 200."""
    ours = [rated(0, "4"), rated(1, "2")]
    theirs = [rated(0, "5"), rated(1, "1")]
    found = quality(ours, theirs, TASKS)
    assert found is not None and found.mean == pytest.approx(200)
    back = quality(theirs, ours, TASKS)
    assert back is not None and back.mean == pytest.approx(50)


def test_quality_is_nothing_where_it_would_divide_by_zero() -> None:
    exact, off = [rated(0, "3")], [rated(0, "4")]
    assert quality(exact, off, TASKS) is None  # our error is the divisor
    assert quality(exact, exact, TASKS) is not None
    assert quality(exact, [rated(1, "4")], TASKS) is None  # other requests cannot be paired


def test_the_users_of_every_task_are_drawn_on_their_own() -> None:
    """As many users of another task are other people: who errs in which place tells nothing."""
    tasks = TASKS | {"other": replace(RATING, name="other")}

    def width(of_other: Sequence[str]) -> float:
        rows = [rated(n, "45"[n % 2]) for n in range(16)]
        rows += [replace(rated(n, answer), task="other") for n, answer in enumerate(of_other)]
        found = quality(rows, [replace(row, answer="5") for row in rows], tasks)
        assert found is not None
        return found.high - found.low

    alike, crossed = width("45" * 8), width("54" * 8)
    assert 0.85 < alike / crossed < 1.15  # with common draws 43 against 4


def test_rows_without_a_value_are_left_out_of_its_mean() -> None:
    found = summarise([rated(0, "3"), rated(1, "3", net=None)], [], TASKS)
    assert found.net is not None and found.net.mean == 0.5
    assert found.quality is None
