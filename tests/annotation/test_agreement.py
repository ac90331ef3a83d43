"""Fleiss' κ against its own source and by hand; verdicts of a study that can be counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.annotation.agreement import POOLED, Agreement, fleiss_kappa, verdicts
from enough.annotation.criteria import CRITERIA, Choice
from enough.annotation.judgements import AnnotatorFile, Judgement
from enough.annotation.key import Key, KeyLine
from enough.annotation.pairs import Counted, PairConfig

FLEISS_1971 = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_the_worked_example_of_14_raters() -> None:
    found = fleiss_kappa(FLEISS_1971)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)
    assert (found.raters, found.items, found.left_out) == (14, 10, 0)


def test_by_hand() -> None:
    # P_i = 1, 1/3, 0: mean 4/9. p = 5/9, 3/9, 1/9: expected 35/81. κ = (36 − 35) / (81 − 35).
    found = fleiss_kappa([[3, 0, 0], [1, 2, 0], [1, 1, 1]])
    assert found.kappa == pytest.approx(1 / 46)
    # Two raters who always disagree: P̄ = 0, expected ½.
    assert fleiss_kappa([[1, 1], [1, 1]]).kappa == pytest.approx(-1)
    assert fleiss_kappa([[2, 0], [0, 2]]).kappa == pytest.approx(1)


def test_items_with_other_numbers_of_raters_are_left_out() -> None:
    full = [[3, 0, 0], [1, 2, 0], [1, 1, 1]]
    found = fleiss_kappa([*full, [2, 0, 0], [0, 0, 1], [0, 0, 0]])
    assert found.kappa == pytest.approx(1 / 46)
    assert (found.raters, found.items, found.left_out) == (3, 3, 3)
    assert fleiss_kappa(full, raters=4) == Agreement(None, 4, 0, 3)


def test_where_it_is_not_defined() -> None:
    assert fleiss_kappa([[3, 0], [3, 0]]) == Agreement(None, 3, 2, 0), "chance explains it all"
    assert fleiss_kappa([[1, 0], [0, 1]]) == Agreement(None, 1, 2, 0), "one rater"
    assert fleiss_kappa(np.zeros((0, 3))) == Agreement(None, 0, 0, 0)


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=12),
    st.permutations([0, 1, 2]),
)
def test_names_of_categories_do_not_matter_and_one_is_the_most(
    ratings: list[list[int]], names: list[int]
) -> None:
    counts = np.array([np.bincount(one, minlength=3) for one in ratings])
    kappa = fleiss_kappa(counts).kappa
    renamed = fleiss_kappa(counts[:, names]).kappa
    if kappa is None:
        assert len({rating for one in ratings for rating in one}) == 1
        assert renamed is None
        return
    assert renamed == pytest.approx(kappa)
    unanimous = all(len(set(one)) == 1 for one in ratings)
    assert (kappa == pytest.approx(1)) == unanimous
    assert kappa <= 1 + 1e-9


# A study to be counted by hand: two pairs of LaMP-4, one of LaMP-7; "we" stand left, right, left.
KEY = Key(
    page="digest",
    lines={
        "p1": KeyLine("LaMP-4", "q1", "ann", "we", "they"),
        "p2": KeyLine("LaMP-4", "q2", "bob", "they", "we"),
        "p3": KeyLine("LaMP-7", "q3", "ann", "we", "they"),
    },
    counts={"LaMP-4": Counted(5, 3, 2), "LaMP-7": Counted(2, 1, 1)},
    config=PairConfig("we", "they"),
)


def file(name: str, **choices: Choice) -> AnnotatorFile:
    """One choice per pair, the same on every criterion."""
    judgements = tuple(
        Judgement(pair, criterion.name, choice)
        for pair, choice in choices.items()
        for criterion in CRITERIA
    )
    return AnnotatorFile(Path(name), name, judgements, len(choices), 1.0)


def test_verdicts_by_hand() -> None:
    files = [
        file("a", p1="left", p2="right", p3="tie"),  # win, win, tie
        file("b", p1="left", p2="left", p3="right"),  # win, loss, loss
        file("c", p1="tie", p2="tie"),  # tie, tie
    ]
    found = {(one.task, one.criterion): one for one in verdicts(files, KEY)}
    titles = ["task faithfulness", "user style consistency", "overall preference"]
    tasks = ("LaMP-4", "LaMP-7", POOLED)
    assert list(found) == [(task, title) for task in tasks for title in titles]
    one = found["LaMP-4", "overall preference"]
    assert (one.win.mean, one.tie.mean, one.loss.mean) == pytest.approx((3 / 6, 2 / 6, 1 / 6))
    assert (one.pairs, one.judgements, one.identical) == (2, 6, 3)
    assert (one.method, one.against) == ("we", "they")
    # [win, tie, loss]: p1 [2, 1, 0], p2 [1, 1, 1]. P̄ = (1/3 + 0)/2; expected (9 + 4 + 1)/36.
    assert one.agreement.kappa == pytest.approx((6 / 36 - 14 / 36) / (1 - 14 / 36))
    assert (one.agreement.raters, one.agreement.items, one.agreement.left_out) == (3, 2, 0)
    tweets = found["LaMP-7", "task faithfulness"]
    assert (tweets.win.mean, tweets.tie.mean, tweets.loss.mean) == (0.0, 0.5, 0.5)
    assert tweets.agreement == Agreement(None, 3, 0, 1), "the third did not judge it"
    pooled = found[POOLED, "overall preference"]
    assert (pooled.win.mean, pooled.tie.mean, pooled.loss.mean) == pytest.approx(
        (3 / 8, 3 / 8, 0.25)
    )
    assert (pooled.pairs, pooled.judgements, pooled.identical) == (3, 8, 4)
    assert (pooled.agreement.items, pooled.agreement.left_out) == (2, 1)


def test_intervals_draw_users_of_a_task() -> None:
    found = {
        (one.task, one.criterion): one for one in verdicts([file("a", p1="left", p2="left")], KEY)
    }
    one = found["LaMP-4", "overall preference"]
    assert (one.win.low, one.win.mean, one.win.high) == (0.0, 0.5, 1.0), "ann wins, bob loses"
    assert one.agreement.kappa is None, "one annotator"
    single = verdicts([file("a", p3="left")], KEY)[0]
    assert (single.win.low, single.win.high) == (1.0, 1.0), "one user does not vary"


def test_what_nobody_judged_has_no_line() -> None:
    only_style = AnnotatorFile(Path("a"), "a", (Judgement("p3", "style", "tie"),), 0, 1.0)
    found = verdicts([only_style], KEY)
    assert [(one.task, one.criterion) for one in found] == [
        ("LaMP-7", "user style consistency"),
        (POOLED, "user style consistency"),
    ]
    assert verdicts([], KEY) == []


def test_a_single_task_is_not_pooled() -> None:
    lines = {"p3": KEY.lines["p3"]}
    key = Key("digest", lines, {"LaMP-7": Counted(2, 1, 1)}, KEY.config)
    assert {one.task for one in verdicts([file("a", p3="left")], key)} == {"LaMP-7"}
