"""Rows on disk: as they were, typed even where there are none, whole or not at all."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from enough.errors import DataError, MissingExtraError
from enough.evaluation.rows import Row, Seconds, read_rows, write_rows
from enough.parquet_rows import read_settings


def make_row(**changes: Any) -> Row:
    values: dict[str, Any] = {
        "method": "enough",
        "task": "LaMP-2",
        "seed": 0,
        "request_id": "q1",
        "user": "ann",
        "answer": "comedy",
        "reference": "comedy",
        "scores": {"accuracy": 1.0, "outside-labels": 0.0},
        "records": ("r2", "r1"),
        "profile_tokens": 120,
        "one_prompt": True,
        "root_stop": False,
        "calls": 1,
        "rerank_calls": 0,
        "prompt_tokens": 400,
        "seconds": Seconds(0.01, 0.002, 0.3, 0.004),
        "log_likelihood_gain": 0.25,
        "gain": 0.5,
        "specificity": 0.1,
        "net": 0.52,
        "reason": "STOP",
    }
    return Row(**(values | changes))


def test_there_and_back(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("reference", "log_likelihood_gain", "gain", "specificity", "net"))
    rows = [
        make_row(),
        make_row(request_id="q2", records=(), root_stop=True, scores={}, answer="", **nothing),
        make_row(request_id="ö\n", user="", seed=2**40),
    ]
    path = tmp_path / "cell" / "rows.parquet"
    settings = {"recipe": {"seeds": [1, 2]}, "name": "größer"}
    write_rows(path, rows, settings)
    assert read_rows(path) == rows
    assert read_settings(path) == settings
    assert rows[0].seconds.total == pytest.approx(0.316)
    assert [one.name for one in path.parent.iterdir()] == ["rows.parquet"]


def test_a_file_without_rows_has_types(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_rows(path, [], {})
    assert read_rows(path) == []
    schema = parquet.read_schema(path)
    assert str(schema.field("scores").type).startswith("map<string, double")
    assert str(schema.field("net").type) == "double"
    write_rows(path, [make_row()], {})
    assert parquet.read_schema(path).equals(schema), "the same with rows"


def test_equal_rows_make_equal_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_rows(tmp_path / name, [make_row(), make_row(request_id="q2")], {"x": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    for read in (read_rows, read_settings):
        with pytest.raises(DataError, match="cannot be read"):
            read(path)
    path.write_text("no Parquet")
    with pytest.raises(DataError, match=r"rows\.parquet: cannot be read"):
        read_rows(path)
    write_rows(path, [make_row()], {})
    table = parquet.read_table(path)
    parquet.write_table(table.drop(["net"]), path)
    with pytest.raises(DataError, match=r"no such column \(field 'net'\)"):
        read_rows(path)
    texts = table.column("net").cast("string")
    parquet.write_table(table.drop(["net"]).append_column("net", texts), path)
    with pytest.raises(DataError, match=r"must be of type double \(field 'net'\)"):
        read_rows(path)
    parquet.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(DataError, match="settings cannot be read"):
        read_settings(path)


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="rows in Parquet needs the extra 'eval'"):
        write_rows(tmp_path / "rows.parquet", [replace(make_row(), seed=1)], {})
