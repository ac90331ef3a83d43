"""Requests in one order, seeds averaged, lengths chosen elsewhere; by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from enough.errors import DataError
from enough.evaluation.intervals import Estimate, Interval, estimate
from enough.evaluation.published_outcomes import PublishedOutcome
from enough.results.default_section import default_section
from enough.results.length_sections import against_best, lengths_section, verdict
from enough.results.operating_points import OperatingPoint, operating_points
from tests.results.made_up import made_up_outcomes


def row(
    selector: str,
    request: int,
    net: float,
    *,
    task: str = "a",
    reported: bool = True,
    tokens: int = 100,
    gain: float = 0.0,
    seed: int | None = None,
) -> PublishedOutcome:
    length = int(selector[-1]) if selector.startswith("k=") else None
    return PublishedOutcome(
        slice="report" if reported else "select",
        is_reported=reported,
        selector=selector,
        length=length,
        seed=seed,
        task=task,
        request=f"q{request}",
        user=f"u{request}",
        beta=0.4,
        lambda_=0.3,
        records=tokens // 100,
        tokens=tokens,
        gain=gain,
        specificity=0.0,
        net=net,
        promised=None if seed is None else net + 0.1,
    )


ROWS = [
    # Chosen on others: on "a" k=1 is best, on "b" k=0; over both, k=1.
    row("k=0", 8, 0.0, reported=False),
    row("k=1", 8, 0.9, reported=False),
    row("k=0", 9, 0.0, task="b", reported=False),
    row("k=1", 9, -0.5, task="b", reported=False),
    row("k=1", 1, 0.4, task="b", gain=0.5),
    row("k=1", 0, 0.2, gain=-0.1),
    row("k=0", 0, 0.0, tokens=0),
    row("k=0", 1, 0.0, task="b", tokens=0),
    row("s0", 0, 0.5, seed=0, gain=0.5),
    row("s0", 1, 0.1, task="b", seed=0, tokens=0),
    row("s1", 1, 0.3, task="b", seed=1, gain=-0.2),
    row("s1", 0, 0.7, seed=1, gain=0.5),
]


@pytest.fixture(scope="module")
def point() -> OperatingPoint:
    (found,) = operating_points(ROWS)
    return found


def test_means_over_seeds_request_by_request(point: OperatingPoint) -> None:
    assert (point.tasks, point.users) == (("b", "a"), ("u1", "u0")), "as the first selector has it"
    assert point.ours is not None
    np.testing.assert_allclose(point.ours.net, [0.2, 0.6])
    np.testing.assert_allclose(point.ours.tokens, [50, 100])
    np.testing.assert_allclose(point.ours.harmed, [0.5, 0])
    np.testing.assert_allclose(point.ours.stopped, [0.5, 0])
    np.testing.assert_allclose(point.ours.gap, [0.1, 0.1])
    assert point.seeds == {0: pytest.approx(0.3), 1: pytest.approx(0.5)}


def test_the_best_length_is_chosen_on_the_other_slice(point: OperatingPoint) -> None:
    assert (point.best, point.best_of) == (1, {"a": 1, "b": 0})
    np.testing.assert_allclose(point.best_per_task.net, [0.0, 0.2])
    found = against_best(point, point.resampling())
    assert found is not None
    assert found.observed == pytest.approx(((0.2 - 0.0) + (0.6 - 0.2)) / 2)
    part = point.of_task("a")
    assert (part.tasks, part.users) == (("a",), ("u0",))
    assert part.fixed[1].net.tolist() == [0.2]


def test_one_user_of_two_tasks_counts_as_two(point: OperatingPoint) -> None:
    both = replace(point, users=("u", "u"))
    assert both.resampling().users == 2


def test_what_is_compared_must_be_paired() -> None:
    with pytest.raises(DataError, match="s1 was judged on other requests"):
        operating_points(ROWS[:-1])
    with pytest.raises(DataError, match="s1 was judged twice on q0"):
        operating_points([*ROWS, ROWS[-1]])
    with pytest.raises(DataError, match="s0 and s1 both have the seed 0"):
        operating_points([replace(one, seed=one.seed and 0) for one in ROWS])
    with pytest.raises(DataError, match="no fixed lengths"):
        operating_points([one for one in ROWS if one.length is None])
    with pytest.raises(DataError, match="no outcomes"):
        operating_points([])


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.001, 0.2, "above"),
        (0.0, 0.2, "not inferior"),
        (-0.0499, 0.01, "not inferior"),
        (-0.05, 0.3, "not shown to be as good"),
        (-0.04, -0.01, "not inferior, yet below"),
        (-0.3, -0.06, "below"),
    ],
)
def test_verdicts(low: float, high: float, said: str) -> None:
    assert verdict(Interval((low + high) / 2, low, high), users=6) == said
    assert verdict(Interval((low + high) / 2, low, high), users=5) == "too few users to tell"


def test_ratios() -> None:
    one = Estimate(2.0, np.array([1.0, 3.0]))
    other = Estimate(4.0, np.array([4.0, 5.0]))
    found = one.over(other)
    assert found is not None
    assert (found.observed, found.draws.tolist()) == (0.5, [0.25, 0.6])
    assert one.over(Estimate(4.0, np.array([4.0, 0.0]))) is None


def test_the_words_of_made_up_outcomes() -> None:
    points = operating_points(made_up_outcomes(["LaMP-1", "LaMP-7"], 12))
    assert [point.lambda_ for point in points] == [0.1, 0.2, 1.0, 3.0]
    text = lengths_section(points)
    difference = against_best(points[1], points[1].resampling())
    assert difference is not None
    said = verdict(difference.interval, 24)
    assert f"| {said} |" in text.split("| 0.2 |")[1].split("\n")[0]
    assert f"{difference.observed:+.3f}".replace("-", "−") in text
    closely = default_section(points[1])
    ours = points[1].ours
    assert ours is not None
    kept = ours.gain.mean() / points[1].fixed[5].gain.mean()
    spent = ours.tokens.mean() / points[1].fixed[5].tokens.mean()
    assert f"keeps {kept:.1%} (95% interval" in closely
    assert f"with {spent:.1%} (95% interval" in closely
    assert ("**not met**" in closely) == (kept < 0.95 or spent > 0.6)
    assert "On LaMP-1 history carries no signal" in closely
    assert "On LaMP-7 history" not in closely
    assert "promises more than it keeps: the gap is +0.050" in closely
    assert "more often than fixed k" not in closely
    harm = estimate(ours.harmed, points[1].resampling())
    assert f"harms {harm.observed:.1%}" in closely


def test_harm_is_not_hidden(point: OperatingPoint) -> None:
    long = replace(point, fixed={**point.fixed, 3: point.fixed[0]})
    assert "more often than fixed k = 3" in default_section(long)
    assert "no shares of it can be given" in default_section(point)
