"""Users who had been met: counted apart, added up, and weighed as the others' tasks are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from enough.evaluation.published_outcomes import OUTCOMES, PublishedOutcome
from enough.results.cut_section import cut_section, cuts_of, weighed
from enough.results.operating_points import OperatingPoint, operating_points
from enough.results.page import results_of
from enough.results.sources import Outcomes, Sources
from tests.results.made_up import made_up_outcomes


def later(
    rows: list[PublishedOutcome], met_in: str, better: float = 0.0, task: str = ""
) -> list[PublishedOutcome]:
    """Another request of everybody, or of one task, with which ENOUGH does better by so much."""
    return [
        replace(
            row,
            slice=f"returning/{met_in}",
            is_reported=False,
            request=f"{row.request} {met_in}",
            net=row.net + better * (row.length is None),
        )
        for row in rows
        if row.is_reported and task in row.task
    ]


ROWS = made_up_outcomes(["LaMP-1", "LaMP-7"], 12, [0.2])
EVERY = [*ROWS, *later(ROWS, "tune"), *later(ROWS, "label", 3.0)]


def net(point: OperatingPoint) -> np.ndarray:
    assert point.ours is not None
    return point.ours.net


def test_they_are_counted_apart() -> None:
    (strict,), (apart,) = operating_points(ROWS), operating_points(EVERY)
    assert net(apart).tolist() == net(strict).tolist()
    (tuned,) = operating_points(EVERY, whose=["tune"])
    assert net(tuned).tolist() == net(strict).tolist(), "the same values with other names"
    (everybody,) = operating_points(EVERY, whose=[None, "tune", "label"])
    assert net(everybody).mean() == pytest.approx(net(strict).mean() + 1.0)
    for one in (apart, tuned, everybody):
        assert (one.best, one.best_of) == (strict.best, strict.best_of), "chosen on other users"
    assert everybody.resampling().users == strict.resampling().users, "with all their requests"


def test_which_cuts_there_are() -> None:
    points = operating_points(EVERY)
    cuts = cuts_of(EVERY, points)
    assert cuts is not None
    assert [cut.whose for cut in cuts.alone] == ["the slice tune, later", "the slice label, later"]
    assert [cut.whose for cut in cuts.together] == ["all but the slice label", "all of them"]
    for only in ("tune", "label"):
        rows = [*ROWS, *later(ROWS, only)]
        found = cuts_of(rows, points)
        assert found is not None
        assert [cut.whose for cut in found.together] == ["all of them"]
    assert cuts_of(ROWS, points) is None


def test_tasks_count_as_often_as_among_the_reported() -> None:
    rows = [*ROWS, *later(ROWS, "tune", task="LaMP-1")]
    (strict,), (mixed,) = operating_points(ROWS), operating_points(rows, whose=[None, "tune"])
    assert len(mixed.users) == 1.5 * len(strict.users)
    assert net(mixed).mean() != pytest.approx(net(strict).mean())
    same = weighed(mixed, strict)
    assert net(same).mean() == pytest.approx(net(strict).mean())
    for k, one in same.fixed.items():
        assert one.tokens.mean() == pytest.approx(strict.fixed[k].tokens.mean())


def test_the_section_says_who_is_in_it() -> None:
    (point,) = operating_points(EVERY)
    cuts = cuts_of(EVERY, [point])
    assert cuts is not None
    text, count = cut_section(cuts, point), len(point.users)
    assert f"{2 * count} further requests" in text and f"All {3 * count} together" in text
    assert "it is no independent test" in text
    assert f"| all | {count} | {count} | {count} | {3 * count} |" in text
    assert f"| all but the slice label, weighed | {2 * count} |" in text
    assert text.count("At λ = 0.2, weighed: ") == 2
    assert "keeps" in text.split("At λ = 0.2, weighed: ")[1]


def test_without_a_controller_nothing_is_said_of_it() -> None:
    rows = [row for row in EVERY if row.length is not None]
    (point,) = operating_points(rows)
    cuts = cuts_of(rows, [point])
    assert cuts is not None
    assert "weighed: " not in cut_section(cuts, point)


def test_a_page_has_the_section_only_if_somebody_returns() -> None:
    about = {"holds": OUTCOMES, "max_records": 5}
    heading = "### With users who had been met"
    assert heading in results_of(Sources(Outcomes(EVERY, about))).text
    assert heading not in results_of(Sources(Outcomes(ROWS, about))).text
