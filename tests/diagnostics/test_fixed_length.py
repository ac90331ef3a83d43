"""Fixed lengths on a toy study: which records, what is compared with what."""

from __future__ import annotations

from pathlib import Path

from enough.diagnostics.fixed_length import FixedLengthConfig, FixedLengthRow, measure, section
from enough.parquet_rows import read_parquet, write_parquet
from tests.diagnostics.toy import about, toy_laboratory


def test_every_request_gets_the_first_records_and_what_enough_chose(tmp_path: Path) -> None:
    lab = toy_laboratory(tmp_path)
    rows = measure(lab, FixedLengthConfig((0, 1, 3)))
    requests = len(lab.subjects())
    assert [row.length for row in rows] == [
        *([0] * requests),
        *([1] * requests),
        *([3] * requests),
        *([None] * requests),
    ]
    for row, subject in zip(rows[requests : 2 * requests], lab.subjects(), strict=True):
        assert row.tried.records == (subject.space.case.pool[0].record.id,)
        # The fake generator answers with the last action of the profile.
        assert row.tried.answer.startswith(subject.space.case.pool[0].record.action.split()[0])
    empty = rows[0].tried
    assert empty.records == () and empty.tokens == 0
    assert empty.log_likelihood_gain == 0 and empty.net == 0 and not empty.is_harmed

    path = tmp_path / "rows.parquet"
    write_parquet(path, FixedLengthRow, rows, {"a": 1})
    assert read_parquet(path, FixedLengthRow) == rows

    shown = section(rows, FixedLengthConfig((0, 1, 3)), about(lab.study))
    assert [row[0] for row in shown.panels[0].table.rows] == ["k = 0", "k = 1", "k = 3", "ENOUGH"]
