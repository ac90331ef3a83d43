"""Rows without texts: no answer, reference or id is left, and every table comes out the same."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enough.evaluation.main_table import main_table
from enough.evaluation.metrics import example_scores
from enough.evaluation.published_rows import (
    PublishedRow,
    hashed,
    pseudonyms,
    publish_rows,
    table_rows,
)
from enough.evaluation.rows import Row
from enough.evaluation.table_text import markdown
from enough.evaluation.table_values import MainTable, Shown
from enough.parquet_rows import read_parquet, write_parquet
from enough.tasks import LAMP_TASKS
from tests.evaluation.test_main_table import METHODS, ROWS, SETUP, TASKS
from tests.evaluation.test_rows import make_row

TAGS, RATED, TWEETS = (LAMP_TASKS[name] for name in ("LaMP-2", "LaMP-3", "LaMP-7"))
ALL = (TAGS, RATED, TWEETS)


def table(rows: list[Row], tasks: object = ALL) -> MainTable:
    shown = (Shown("enough", "ENOUGH", "main"), Shown("empty", "empty", "diagnostic"))
    return main_table(rows, tasks, shown, SETUP)  # type: ignore[arg-type]


def test_the_main_table_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_parquet(path, PublishedRow, publish_rows(ROWS, TASKS), {})
    again = table_rows(read_parquet(path, PublishedRow), TASKS)
    ours, theirs = (main_table(rows, TASKS, METHODS, SETUP) for rows in (ROWS, again))
    assert ours == theirs
    assert markdown(ours) == markdown(theirs)


ANSWERS = {
    TAGS.name: st.sampled_from([*TAGS.labels[:4], " comedy\n", "Comedy", "none", ""]),
    RATED.name: st.sampled_from(["1", "5", "4.0", " 3", "five", "nan", ""]),
    TWEETS.name: st.text("ab c", max_size=6),
}
WANTED = {
    TAGS.name: st.sampled_from(TAGS.labels[:4]),
    RATED.name: st.sampled_from(RATED.labels),
    TWEETS.name: st.text("ab", min_size=1, max_size=4),
}


@st.composite
def evaluations(draw: st.DrawFn) -> list[Row]:
    """Both methods on some requests of every task, with users whose ids sort in any way."""
    rows = []
    for task in ALL:
        users = draw(st.lists(st.text("aZ-0ö~/", max_size=3), min_size=2, max_size=6))
        for i, user in enumerate(users):
            reference = draw(WANTED[task.name])
            for method, seed in (("enough", 0), ("enough", 1), ("empty", 0)):
                answer = draw(ANSWERS[task.name])
                net = draw(st.floats(-1, 1))
                rows.append(
                    make_row(
                        method=method,
                        task=task.name,
                        seed=seed,
                        request_id=f"{user}{i}",
                        user=user,
                        answer=answer,
                        reference=reference,
                        scores=example_scores(task, answer, reference),
                        records=("r",) * draw(st.integers(0, 3)),
                        net=net,
                    )
                )
    return rows


@settings(max_examples=25, deadline=None)
@given(evaluations())
def test_whatever_the_answers_and_ids(rows: list[Row]) -> None:
    assert table(rows) == table(table_rows(publish_rows(rows, ALL), ALL))


def test_no_text_and_no_id_is_left() -> None:
    row = make_row(
        task="LaMP-7",
        user="ann",
        request_id="q-secret",
        answer="omg late",
        reference="the bus is late",
        records=("tweet-7", "tweet-9"),
        scores={"rouge-1": 0.5, "rouge-l": 0.5},
        reason="the budget of ann",
    )
    (published,) = publish_rows([row], [TWEETS])
    for secret in ("ann", "secret", "omg", "late", "tweet", "budget"):
        assert secret not in repr(asdict(published))
    assert (published.records, published.answered, published.wanted) == (2, None, None)
    assert published.user == f"0-{hashed('ann')}"
    assert published.profile_tokens == row.profile_tokens


def test_labels_are_kept_as_places_where_f1_needs_them() -> None:
    tag = make_row(task="LaMP-2", answer=" comedy ", reference="action")
    rating = make_row(task="LaMP-3", answer="4", reference="5")
    first, second = publish_rows([tag, rating], ALL)
    assert (first.answered, first.wanted) == (2, 3), "their places in the list of labels"
    assert (second.answered, second.wanted) == (None, None), "errors are enough for mae and rmse"
    (outside,) = publish_rows([make_row(task="LaMP-2", answer="Comedy!")], ALL)
    assert outside.answered is None
    again = table_rows([first, second], ALL)
    assert [(row.answer, row.reference) for row in again] == [("comedy", "action"), ("", "")]


def test_a_row_without_reference_stays_one() -> None:
    row = make_row(task="LaMP-7", reference=None, scores={})
    (again,) = table_rows(publish_rows([row], ALL), ALL)
    assert again.reference is None


@pytest.mark.parametrize("users", [["b", "a", "ä", "B", "10", "9"], [str(n) for n in range(101)]])
def test_new_ids_sort_as_the_old_ones(users: list[str]) -> None:
    names = pseudonyms(("t", user) for user in users)
    assert sorted(users, key=lambda user: names["t", user]) == sorted(users)
    assert len(set(names.values())) == len(users)
    assert (
        pseudonyms([("a", "x"), ("b", "x")])["a", "x"]
        != pseudonyms([("c", "x"), ("b", "x")])["c", "x"]
    ), "the place differs, the hash does not"
