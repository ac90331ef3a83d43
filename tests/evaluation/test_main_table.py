"""A small table by hand: two tasks, two runs, three groups of methods."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from enough.errors import ConfigError, DataError
from enough.evaluation.main_table import main_table
from enough.evaluation.metrics import example_scores
from enough.evaluation.rows import Row, Seconds
from enough.evaluation.table_text import for_terminal, markdown
from enough.evaluation.table_values import Column, Faults, Line, MainTable, Setup, Shown
from enough.tasks import LAMP_TASKS
from tests.evaluation.test_rows import make_row

CITATION, RATING = LAMP_TASKS["LaMP-1"], LAMP_TASKS["LaMP-3"]
TASKS = (RATING, CITATION)
SETUP = Setup("tiny", "bag of words", "the generator", "decoded freely")
METHODS = (
    Shown("bm25", "BM25", "main", 1),
    Shown("rankgpt", "RankGPT", "main", 6),
    Shown("enough", "ENOUGH", "main", 1),
    Shown("empty", "empty", "diagnostic"),
    Shown("oracle", "best record [oracle]", "oracle"),
    Shown("absent", "absent", "main"),
)
ACCURACY, F1 = Column("LaMP-1", "accuracy"), Column("LaMP-1", "f1")
MAE, RMSE = Column("LaMP-3", "mae"), Column("LaMP-3", "rmse")


def rows_of(
    method: str,
    task: str,
    answers: Sequence[str],
    wanted: Sequence[str],
    seed: int = 0,
    **more: Any,
) -> list[Row]:
    return [
        make_row(
            method=method,
            task=task,
            seed=seed,
            request_id=f"q{i}",
            user=f"u{i // 2}",
            answer=answer,
            reference=reference,
            scores=example_scores(LAMP_TASKS[task], answer, reference),
            **more,
        )
        for i, (answer, reference) in enumerate(zip(answers, wanted, strict=True))
    ]


CITED, RATED = ["[1]", "[1]", "[2]", "[2]"], ["5", "4", "3", "1"]
SLOW = Seconds(0.1, 0.0, 0.5, 0.4)
NO_PROFILE: dict[str, Any] = {"records": (), "root_stop": True, "profile_tokens": 0, "net": 0.0}
ROWS = [
    *rows_of("bm25", "LaMP-1", ["[1]", "[2]", "[2]", "[1]"], CITED, net=0.1),
    *rows_of("bm25", "LaMP-3", ["5", "4", "five", "2"], RATED, net=0.3),
    *rows_of("enough", "LaMP-1", ["[1]", "[1]", "[2]", "[1]"], CITED, seed=0),
    *rows_of("enough", "LaMP-1", CITED, CITED, seed=1),
    *rows_of("enough", "LaMP-3", ["5", "4", "4", "1"], RATED, seed=0),
    *rows_of("enough", "LaMP-3", ["5", "4", "3", "2"], RATED, seed=1),
    *rows_of("rankgpt", "LaMP-1", CITED, CITED, rerank_calls=4, seconds=SLOW, net=None),
    *rows_of("empty", "LaMP-1", ["[1]", "[1]", "[1]", "x"], CITED, **NO_PROFILE),
    *rows_of("empty", "LaMP-3", ["5", "5", "3", "1"], RATED, **NO_PROFILE),
    *rows_of("oracle", "LaMP-1", CITED, CITED),
]


@pytest.fixture(scope="module")
def table() -> MainTable:
    return main_table(ROWS, TASKS, METHODS, SETUP)


def line(table: MainTable, name: str) -> Line:
    return next(one for one in table.lines if one.shown.name == name)


def test_metrics_are_times_100_and_means_over_runs(table: MainTable) -> None:
    assert table.columns == (MAE, RMSE, ACCURACY, F1)
    assert [one.shown.name for one in table.lines] == [
        "bm25",
        "rankgpt",
        "enough",
        "empty",
        "oracle",
    ]
    bm25, enough = line(table, "bm25").cells, line(table, "enough").cells
    assert (bm25[ACCURACY].value, bm25[F1].value, bm25[ACCURACY].sd) == (50, 50, None)
    # "five" is 5, two off the 3; the last one is one off.
    assert bm25[MAE].value == pytest.approx(75)
    assert bm25[RMSE].value == pytest.approx(100 * math.sqrt(5 / 4))
    assert enough[ACCURACY].value == pytest.approx(87.5)
    assert enough[ACCURACY].sd == pytest.approx(25 / math.sqrt(2))
    assert enough[F1].value == pytest.approx(100 * ((4 / 5 + 2 / 3) / 2 + 1) / 2)
    assert (enough[MAE].value, enough[MAE].sd) == (25, 0)
    assert line(table, "rankgpt").cells.keys() == {ACCURACY, F1}


def test_quality_is_relative_to_the_champion(table: MainTable) -> None:
    assert line(table, "enough").quality == pytest.approx(100)
    rating = (25 / 75 + 50 / (100 * math.sqrt(5 / 4))) / 2
    citing = (50 / 87.5 + 50 / line(table, "enough").cells[F1].value) / 2
    assert line(table, "bm25").quality == pytest.approx(100 * (rating + citing) / 2)
    assert line(table, "rankgpt").quality is None, "not run on every task"


def test_harm_is_counted_per_request_and_run(table: MainTable) -> None:
    # bm25 loses one citation and two ratings that the empty profile had right.
    assert line(table, "bm25").harm == pytest.approx(3 / 8)
    # enough: one rating in either run, of 16 rows.
    assert line(table, "enough").harm == pytest.approx(2 / 16)
    assert line(table, "empty").harm == 0
    without = main_table([r for r in ROWS if r.method != "empty"], TASKS, METHODS, SETUP)
    assert line(without, "bm25").harm is None


def test_cost_and_utility(table: MainTable) -> None:
    bm25, rankgpt, empty = (line(table, name) for name in ("bm25", "rankgpt", "empty"))
    assert (bm25.tokens, bm25.records, bm25.root_stop, bm25.requests) == (120, 2, 0, 8)
    assert (empty.tokens, empty.records, empty.root_stop) == (0, 0, 1)
    assert (rankgpt.calls, rankgpt.rerank_calls, rankgpt.shown.paper_calls) == (1, 4, 6)
    assert rankgpt.latency["total"].p50 == pytest.approx(1000)
    assert rankgpt.latency["generation"].p95 == pytest.approx(500)
    assert rankgpt.net is None, "no likelihoods of several prompts"
    assert bm25.net is not None and bm25.net.mean == pytest.approx(0.2)
    assert bm25.net.low < 0.2 < bm25.net.high
    assert bm25.log_likelihood_gain == 0.25
    assert (bm25.unparseable, bm25.outside_labels) == (Faults(1, 4), Faults(1, 8))
    assert (rankgpt.unparseable, empty.outside_labels) == (Faults(0, 0), Faults(1, 8))


def test_a_few_requests_prove_nothing_and_oracles_are_not_compared_with(table: MainTable) -> None:
    assert {c.other for c in table.comparisons[ACCURACY]} == {"bm25", "rankgpt", "empty"}
    assert {c.other for c in table.comparisons[MAE]} == {"bm25", "empty"}
    assert {cell.marks for one in table.lines for cell in one.cells.values()} == {""}
    against = {c.other: c for c in table.comparisons[MAE]}
    assert against["bm25"].difference.mean == pytest.approx(50), "a lower error is better"
    assert against["bm25"].t is None, "both runs differ by the same"


def test_marks() -> None:
    wanted = ["[1]", "[2]"] * 100
    swapped = {"[1]": "[2]", "[2]": "[1]"}

    def wrong(every: int) -> list[str]:
        return [swapped[y] if i % every == 0 else y for i, y in enumerate(wanted)]

    rows = [
        row
        for seed in range(3)
        for method, every in (("enough", 15 + 5 * seed), ("bm25", 2), ("empty", 16 + 5 * seed))
        for row in rows_of(method, "LaMP-1", wrong(every), wanted, seed)
    ]
    found = main_table(rows, TASKS, METHODS, SETUP)
    marks = {one.shown.name: one.cells[ACCURACY].marks for one in found.lines}
    assert marks == {"enough": "*†", "bm25": "*†", "empty": ""}
    written = markdown(found)
    assert "| ENOUGH | **94.7**±1.5\\*† |" in written
    assert "\\*: bootstrap over users" in written
    nobody = main_table(rows, TASKS, METHODS, SETUP, champion=None)
    assert line(nobody, "enough").quality is None
    assert not any(nobody.comparisons.values())
    assert "against" not in markdown(nobody)


def test_markdown(table: MainTable) -> None:
    text = markdown(table)
    start, methods, diagnostics, oracles, comparisons = text.split("\n## ")
    assert "Generator: tiny" in start and "decoded freely" in start and "LaMP-3 4" in start
    rows = methods.splitlines()
    head = "| method | LaMP-3 mae | LaMP-3 rmse | LaMP-1 accuracy | LaMP-1 f1 |"
    assert rows[2] == f"{head} faults unparseable | faults outside labels |"
    assert rows[4] == "| BM25 | 75.0 | 111.8 | 50.0 | 50.0 | 1/4 | 1/8 |"
    assert rows[5] == "| RankGPT | – | – | **100.0** | **100.0** | – | 0/4 |"
    assert rows[6].startswith("| ENOUGH | **25.0**±0.0 | **50.0**±0.0 | 87.5±17.7 | 86.7±18.9 |")
    assert "best record" not in methods + diagnostics
    assert "| best record \\[oracle\\] | – | – | 100.0 | 100.0 |" in oracles
    assert "| RankGPT | 5.0 | 4.0 | 6 | 1000/1000 | 100/100 |" in methods, (
        "measured, of the reranker, the paper's"
    )
    assert "| LaMP-3 mae | BM25 | +50.00 |" in comparisons


def test_for_a_terminal(table: MainTable) -> None:
    written = io.StringIO()
    Console(width=100, file=written).print(for_terminal(table))
    text = written.getvalue()
    assert "best record [oracle]" in text
    assert "25.0±0.0" in text and "87.5±17.7" in text


def test_what_is_compared_must_be_paired() -> None:
    with pytest.raises(DataError, match="bm25, LaMP-3, seed 0: 1 of 4 requests are missing"):
        main_table([r for i, r in enumerate(ROWS) if i != 5], TASKS, METHODS, SETUP)
    with pytest.raises(DataError, match="bm25, LaMP-1, seed 0, request q0: there are two rows"):
        main_table([*ROWS, ROWS[0]], TASKS, METHODS, SETUP)
    with pytest.raises(DataError, match="the task is not among those of the table"):
        main_table(ROWS, [CITATION], METHODS, SETUP)
    with pytest.raises(DataError, match="there is no reference"):
        main_table([make_row(reference=None, task="LaMP-1")], TASKS, METHODS, SETUP)
    with pytest.raises(ConfigError, match="how to show the method 'oracle'"):
        main_table(ROWS, TASKS, METHODS[:4], SETUP)
