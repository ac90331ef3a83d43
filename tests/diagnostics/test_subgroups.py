"""Buckets are frozen on the slice on which everything is chosen, and have one common 100."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.diagnostics.first_records import first_records
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.stress.subgroup_rows import (
    Buckets,
    Group,
    SubgroupRow,
    SubgroupsConfig,
    bucket_quality,
)
from enough.diagnostics.stress.subgroups import (
    Traits,
    bucket_of,
    coverage_of,
    frozen_borders,
    measure,
    placed,
    quantile_borders,
    traits_of,
)
from enough.diagnostics.stress.subgroups_section import section
from enough.diagnostics.tried import OURS
from enough.errors import ConfigError
from enough.parquet_rows import read_parquet, write_parquet
from enough.tasks import LAMP_TASKS
from tests.diagnostics.toy import about, toy_laboratory
from tests.diagnostics.tried_rows import ABOUT, own_cache, tried


def test_tertiles_and_where_ties_go() -> None:
    borders = quantile_borders([1, 2, 3, 4], 3)
    assert borders == pytest.approx((2, 3))
    assert [bucket_of(x, borders) for x in (0, 1.9, 2, 2.5, 3, 99)] == [0, 0, 1, 1, 2, 2]


def test_equal_borders_put_the_ordinary_value_into_the_middle() -> None:
    borders = quantile_borders([5, 5, 5, 5, 1], 3)
    assert borders == (5.0, 5.0)
    assert [bucket_of(x, borders) for x in (1, 5, 6)] == [0, 1, 2]


@given(st.lists(st.integers(0, 6), min_size=1), st.integers(2, 5))
def test_a_greater_value_is_never_in_a_lower_bucket(values: list[int], buckets: int) -> None:
    borders = quantile_borders([float(value) for value in values], buckets)
    places = [bucket_of(x, borders) for x in np.arange(-1, 8, 0.5)]
    assert places == sorted(places)
    assert set(places) <= set(range(buckets))


def test_difficulty_is_judged_within_the_task() -> None:
    chosen = [Traits("a", 1, 1, x) for x in (1, 2, 3)] + [Traits("b", 1, 1, x) for x in (7, 8, 9)]
    borders = frozen_borders(chosen, SubgroupsConfig())
    easy_b = placed(Traits("b", 1, 1, 7), borders, SubgroupsConfig())
    hard_a = placed(Traits("a", 1, 1, 3), borders, SubgroupsConfig())
    assert easy_b is not None and easy_b.difficulty == "easy"
    assert hard_a is not None and hard_a.difficulty == "hard"
    assert placed(Traits("unseen", 1, 1, 3), borders, SubgroupsConfig()) is None


def test_coverage_is_a_share_of_the_pool() -> None:
    assert coverage_of([["x"], [], ["y", "z"], []]) == 0.5
    assert coverage_of([]) == 0


def test_names_of_buckets_must_differ() -> None:
    with pytest.raises(ConfigError, match="two names"):
        SubgroupsConfig(history=("short", "short"))


def test_all_buckets_share_one_hundred() -> None:
    # Accuracy over all four is 0.75; in the bucket of the last two it is 0.5.
    everybody = [tried(i, answer, "[1]") for i, answer in enumerate(("[1]", "[1]", "[1]", "[2]"))]
    task = replace(LAMP_TASKS["LaMP-1"], metrics=("accuracy",))
    whole = bucket_quality(everybody, everybody, {"LaMP-1": task})
    half = bucket_quality(everybody[2:], everybody, {"LaMP-1": task})
    assert whole is not None and whole.mean == pytest.approx(100)
    assert half is not None and half.mean == pytest.approx(100 * 0.5 / 0.75)


def test_errors_are_divided_the_other_way_round() -> None:
    rows = [tried(i, answer, "3", "LaMP-3") for i, answer in enumerate(("4", "5", "3"))]
    task = {"LaMP-3": replace(LAMP_TASKS["LaMP-3"], metrics=("mae",))}
    first = bucket_quality(rows[:1], rows, task)  # MAE is 1 over all three, 1 here
    second = bucket_quality(rows[1:2], rows, task)  # 2 here
    assert first is not None and first.mean == pytest.approx(100)
    assert second is not None and second.mean == pytest.approx(50)
    assert bucket_quality(rows[2:], rows, task) is None  # no error: no ratio


def _rows() -> list[SubgroupRow]:
    """Twelve requests: on long histories ENOUGH is ahead by 1 in J, on short ones by nothing."""
    rows = []
    for number in range(12):
        length = "short" if number < 6 else "long"
        for method, net in ((OURS, 1.0 if length == "long" else 0.0), ("k = 5", 0.0)):
            rows.append(
                SubgroupRow(
                    method=method,
                    history=float(number),
                    coverage=1.0,
                    difficulty=0.5,
                    bucket=Buckets(length, "medium", "medium"),
                    history_borders=(1.0, 2.0),
                    coverage_borders=(1.0, 1.0),
                    difficulty_borders=(0.5, 0.5),
                    tried=tried(number, "[1]", "[1]", net=net),
                )
            )
    return rows


def test_the_section_tells_where_adaptivity_matters_and_shows_empty_buckets() -> None:
    shown = section(_rows(), SubgroupsConfig(), ABOUT)
    ours, compared, borders = (panel.table for panel in shown.panels)
    assert [row[:3] for row in ours.rows[:3]] == [
        ("history", "short", 6),
        ("history", "medium", 0),
        ("history", "long", 6),
    ]
    assert ours.rows[1][3:] == (None,) * 5
    lead = compared.rows[2][-1]
    assert getattr(lead, "mean") == 1.0  # noqa: B009
    assert borders.rows[0] == ("history", "all", "1, 2")
    assert "above that of k = 5 in history long (+1.00)" in shown.answer
    assert "Nobody is in history medium" in shown.answer
    assert "short" not in shown.answer.split(".")[0]


def test_tasks_that_number_their_requests_alike_are_kept_apart() -> None:
    """Request q1 of user u1 is in both logs, and neither knows of the other."""
    ours, fixed = (
        tuple(tried(1, "a", "a", task, net=net) for task, net in nets.items())
        for nets in ({"LaMP-1": 1.0, "LaMP-2": 5.0}, {"LaMP-1": 0.5, "LaMP-2": 4.0})
    )
    lead = Group("task", "all", ours, fixed).lead
    assert lead is not None
    assert lead.mean == pytest.approx(0.75)
    assert lead.low < lead.mean < lead.high  # two users, not one
    assert len({row.cluster for row in ours}) == 2


def test_an_interval_over_few_users_is_no_claim() -> None:
    few = [row for row in _rows() if row.tried.user in ("u8", "u9")]
    shown = section(few, SubgroupsConfig(), ABOUT)
    assert "above" not in shown.answer and "cannot be told apart on 2 requests" in shown.answer


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    folder = tmp_path_factory.mktemp("subgroups")
    with own_cache(folder / "cache"):
        yield toy_laboratory(folder)


def test_reported_requests_do_not_move_the_borders(lab: Laboratory) -> None:
    config = SubgroupsConfig(compare_length=2)
    rows = measure(lab, config)
    chosen = traits_of(lab, lab.subjects("select"))
    expected = frozen_borders(chosen, config)
    assert {row.history_borders for row in rows} == {expected.history}
    assert {row.difficulty_borders for row in rows} == set(expected.difficulty.values())
    reported = frozen_borders(traits_of(lab, lab.subjects()), config)
    assert reported.difficulty != expected.difficulty  # so the test could fail
    # Fewer reported requests, the same borders.
    inner, study = lab.generator.inner, lab.study
    fewer = Laboratory(lab.config, lab.folder, generator=inner, opening=lambda *_: study)
    fewer._subjects = {"report": lab.subjects()[:1], "select": lab.subjects("select")}
    assert {row.history_borders for row in measure(fewer, config)} == {expected.history}


def test_rows_hold_both_methods_and_the_legal_history(
    lab: Laboratory, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = SubgroupsConfig(compare_length=2)
    rows, subjects = measure(lab, config), lab.subjects()
    assert [row.method for row in rows] == [OURS] * len(subjects) + ["k = 2"] * len(subjects)
    for row, subject in zip(rows[len(subjects) :], subjects, strict=True):
        pool = subject.space.case.pool
        assert row.tried.records == tuple(pool[i].record.id for i in first_records(subject, 2))
        request = subject.space.case.example.request
        whole = lab.study.datasets[request.task.name].history(request)
        assert len(pool) <= row.history <= len(whole)
        assert row.difficulty > 0
    path = tmp_path_factory.mktemp("rows") / "subgroups.parquet"
    write_parquet(path, SubgroupRow, rows, {})
    assert read_parquet(path, SubgroupRow) == rows
    assert len(section(rows, config, about(lab.study)).panels[0].table.rows) == 9
