"""Retrievers on a toy study, and Δ from rows made by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from enough.config import from_table
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import HeatMap
from enough.diagnostics.transfer.rerun import RerunRow
from enough.diagnostics.transfer.retriever_independence import RetrieverConfig, measure, section
from enough.diagnostics.tried import OURS
from enough.errors import ConfigError, UnknownNameError
from enough.parquet_rows import read_parquet, write_parquet
from tests.diagnostics.toy import about
from tests.diagnostics.tried_rows import ABOUT, heeding_laboratory, own_cache, tried


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    folder = tmp_path_factory.mktemp("retrievers")
    with own_cache(folder / "cache"):
        yield heeding_laboratory(folder)


@pytest.mark.parametrize("retrain", [True, False])
def test_every_retriever_and_method_has_every_request(lab: Laboratory, retrain: bool) -> None:
    config = RetrieverConfig(("dense", "bm25"), retrain, 0, (1,), ("recency",))
    rows = measure(lab, config)
    requests = len(lab.subjects())
    assert [(row.variant, row.method) for row in rows[::requests]] == [
        ("dense", "k = 1"),
        ("dense", OURS),
        ("dense", "recency"),
        ("bm25", "k = 1"),
        ("bm25", OURS),
        ("bm25", "recency"),
    ]
    made = list((lab.folder / "variants").glob("retriever-bm25-*"))
    assert len(made) == 1  # by the retrained one, which runs first
    path = lab.folder / f"rows-{retrain}.parquet"
    write_parquet(path, RerunRow, rows, {})
    assert read_parquet(path, RerunRow) == rows
    shown = section(rows, config, about(lab.study))
    assert len(shown.panels[0].table.rows) == 4  # two retrievers, two tasks
    assert any("transfer" in note for note in shown.notes) == (not retrain)


def test_the_map_shows_the_lead_over_the_strongest() -> None:
    rows = [
        RerunRow(retriever, method, tried(i, answer, "3", "LaMP-3"))
        for retriever, ours in (("dense", "3"), ("bm25", "5"))
        for method, answer in ((OURS, ours), ("k = 1", "4"), ("k = 3", "1"))
        for i in range(6)
    ]
    config = RetrieverConfig(("dense", "bm25"), lengths=(1, 3), baselines=())
    shown = section(rows, config, ABOUT)
    (chart,) = shown.panels[0].charts
    assert isinstance(chart, HeatMap) and chart.is_diverging
    assert (chart.rows, chart.columns) == (("LaMP-3",), ("dense", "bm25"))
    # An error of 0 against 1, then of 2 against 1: fewer errors are a positive Δ.
    assert chart.values == ((100.0, -100.0),)
    assert [row[4] for row in shown.panels[0].table.rows] == ["k = 1", "k = 1"]
    assert "better value in 1 of 2" in shown.answer
    assert "above zero in 1 and below zero in 1" in shown.answer
    assert "from -100.0 (bm25, LaMP-3) to +100.0 points (dense, LaMP-3)" in shown.answer


def test_settings_that_cannot_be() -> None:
    with pytest.raises(UnknownNameError):
        RetrieverConfig(("nobody",))
    with pytest.raises(ConfigError, match="each once"):
        RetrieverConfig(("dense", "dense"))
    with pytest.raises(ConfigError, match="compare with"):
        RetrieverConfig(lengths=(), baselines=())
    table = {"retrievers": ["bm25"], "retrain": False, "lengths": [3]}
    assert from_table(table, RetrieverConfig, "file").retrievers == ("bm25",)
