"""The quality index and harm, by hand and against the paper's own tables."""

from __future__ import annotations

import pytest

from enough.evaluation.quality import harm, quality_index

# The paper's main table (Qwen3.5-9B) and its quality column.
PAPER = {
    "BM25": ("63.1/61.5 50.2/45.8 31.7/68.8 19.0/16.7 45.5/39.9 49.3/44.8", 90.96),
    "Contriever": ("64.5/63.0 49.8/44.9 31.4/67.6 18.8/17.0 46.1/40.7 48.8/45.6", 92.17),
    "IC-RALM": ("67.1/65.6 50.1/46.0 29.3/66.2 17.7/16.8 45.8/42.3 51.7/47.0", 94.82),
    "REPLUG": ("65.7/64.1 48.7/44.7 28.5/62.4 19.1/17.5 45.7/41.8 51.0/47.5", 95.38),
    "RankGPT": ("67.0/65.3 50.2/46.0 28.2/61.9 18.3/17.6 47.5/42.8 49.8/46.9", 96.32),
    "ICR": ("64.8/63.4 51.2/46.6 30.5/67.0 19.1/17.3 46.4/41.8 49.8/47.1", 94.30),
    "RSPG-Pre": ("66.2/64.7 50.3/46.1 29.4/66.4 18.2/17.2 46.1/41.3 49.4/46.1", 94.29),
    "PURPLE": ("66.7/65.1 52.1/47.0 29.0/65.5 19.4/17.8 45.3/42.5 51.9/47.8", 96.49),
    "ENOUGH": ("68.6/67.0 53.9/48.6 26.9/58.3 19.9/18.1 48.2/43.6 53.0/48.7", 100.00),
}


def metrics(cells: str) -> dict[str, dict[str, float]]:
    names = [("accuracy", "f1")] * 2 + [("mae", "rmse")] + [("rouge-1", "rouge-l")] * 3
    return {
        f"task {i}": dict(zip(of, map(float, cell.split("/")), strict=True))
        for i, (of, cell) in enumerate(zip(names, cells.split(), strict=True))
    }


@pytest.mark.parametrize("method", PAPER)
def test_close_to_the_papers_column(method: str) -> None:
    cells, quality = PAPER[method]
    assert quality_index(metrics(cells), metrics(PAPER["ENOUGH"][0])) == pytest.approx(
        quality, abs=0.7
    )


def test_by_hand() -> None:
    reference = {"a": {"accuracy": 0.5, "f1": 0.4}, "b": {"mae": 0.2, "rmse": 0.3}}
    ours = {"a": {"accuracy": 0.6, "f1": 0.4}, "b": {"mae": 0.4, "rmse": 0.3}}
    # (mean(1.2, 1) + mean(0.5, 1)) / 2
    assert quality_index(ours, reference) == pytest.approx(92.5)
    assert quality_index(reference, reference) == 100.0
    assert quality_index({"a": ours["a"]}, reference) is None, "a task is missing"
    assert quality_index(ours, {}) is None


def test_nothing_is_divided_by_zero() -> None:
    perfect, clueless = {"t": {"mae": 0.0}}, {"t": {"accuracy": 0.0}}
    assert quality_index(perfect, {"t": {"mae": 0.1}}) is None
    assert quality_index({"t": {"accuracy": 0.5}}, clueless) is None
    assert quality_index(perfect, perfect) == quality_index(clueless, clueless) == 100.0
    assert quality_index({"t": {"mae": 0.1}}, perfect) == 0.0


def test_harm_is_worse_than_nothing() -> None:
    assert harm([0.0, 1.0, 1.0, 0.2], [1.0, 1.0, 0.0, 0.3]) == 0.5
    assert harm([-1.0, 0.5], [-1.0, 0.5]) == 0.0, "the empty profile does no harm"
