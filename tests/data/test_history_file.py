"""One user's history from a file: both forms, and errors that name the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.data.history_file import read_history
from enough.errors import DataError
from tests.data.world import TWEETS, write_jsonl

LATE = {"id": "1", "date": "2020-02-01", "text": "late again"}
TEA = {"id": "2", "date": "2020-01-01", "text": "tea time"}


def test_one_record_a_line(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "h.jsonl.gz", [LATE, TEA])
    user, history = read_history(tmp_path / "h.jsonl.gz", TWEETS)
    assert user == "user"
    assert [(record.owner, record.action) for record in history] == [
        ("user", "tea time"),  # oldest first
        ("user", "late again"),
    ]


def test_lines_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    write_jsonl(path, [{"user_id": "ann", "records": [LATE]}])
    assert read_history(path, TWEETS)[0] == "ann"
    write_jsonl(path, [{"user_id": "ann", "records": [LATE]}, {"user_id": "bob", "records": [TEA]}])
    user, history = read_history(path, TWEETS, "bob")
    assert (user, [record.owner for record in history]) == ("bob", ["bob"])
    with pytest.raises(DataError, match=r"h.jsonl: holds 2 users \('ann', 'bob'\); .*--user"):
        read_history(path, TWEETS)
    with pytest.raises(DataError, match="holds no user 'bib'; near ones: bob"):
        read_history(path, TWEETS, "bib")


def test_records_that_name_their_user(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "h.jsonl", [LATE | {"user_id": "ann"}, TEA | {"user_id": "ann"}])
    assert read_history(tmp_path / "h.jsonl", TWEETS)[0] == "ann"


def test_an_empty_file_is_a_user_without_a_history(tmp_path: Path) -> None:
    (tmp_path / "h.jsonl").write_text("\n")
    assert read_history(tmp_path / "h.jsonl", TWEETS) == ("user", ())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "2", "tweet": "x"}, r"h.jsonl:2: record '2' of user 'user': .*'text'"),
        ({"id": "2", "text": "x", "date": "soon"}, r"h.jsonl:2: .*not a time.*'date'"),
        (LATE, r"h.jsonl:2: two records have the id '1'"),
        ({"user_id": "ann", "records": {}}, r"h.jsonl:2: user 'ann': expected a list"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, line: dict[str, object], said: str) -> None:
    write_jsonl(tmp_path / "h.jsonl", [LATE, line])
    with pytest.raises(DataError, match=said):
        read_history(tmp_path / "h.jsonl", TWEETS)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"h.jsonl: cannot be read"):
        read_history(tmp_path / "h.jsonl", TWEETS)


def test_fields_that_nothing_reads_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "h.jsonl"
    write_jsonl(path, [LATE | {"Date": "2030-01-01"}])
    read_history(path, TWEETS)
    assert "h.jsonl: nothing reads these fields of records: Date" in caplog.text
