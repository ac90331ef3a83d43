from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli.data import app
from enough.data.logs import read_log_folder
from enough.errors import ConfigError, DataError, DownloadError, UnknownNameError
from tests.data.lamp_server import Server, running, serve_split
from tests.data.world import TableEncoder, movie_input, write_jsonl

DOG = "A dog travels home across the whole of Canada."
NEAR = "A dog travels back home across the whole of Canada."


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> TableEncoder:
    """Stands in for the real encoder; the cache around it is the real one, in an empty folder."""
    made = TableEncoder({DOG: (1.0, 0.0), NEAR: (0.95, 0.31)})
    monkeypatch.setattr("enough.retrieval.encoders.load_encoder", lambda: made)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    return made


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as state:
        yield state


@pytest.fixture
def log(tmp_path: Path) -> Path:
    records = [
        {"id": "1", "date": "2010", "description": NEAR, "tag": "comedy"},
        {"id": "2", "date": "2011", "description": "Nine lighthouses.", "tag": "classic"},
        {"id": "3", "date": "2012", "description": DOG, "tag": "classic"},
    ]
    request = {"id": "q", "user_id": "ann", "date": "2012", "source_id": "3"}
    request |= {"input": movie_input(DOG), "output": "classic"}
    write_jsonl(tmp_path / "films" / "histories.jsonl", [{"user_id": "ann", "records": records}])
    write_jsonl(tmp_path / "films" / "train.jsonl.gz", [request])
    return tmp_path / "films"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(part) for part in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def check_json(*arguments: object) -> Any:
    return json.loads(run("check", *arguments, "--json"))


def test_check_as_json(log: Path, encoder: TableEncoder) -> None:
    found = check_json(log, "--task", "LaMP-2")
    assert (found["task"], found["users"], found["records"]) == ("LaMP-2", 1, 3)
    assert found["splits"]["train"] == {
        "requests": 1,
        "users": 1,
        "median_legal_history": 1,
        "requests_without_history": 0,
        "removals": {
            "target": 1,
            "source id": 0,
            "not strictly earlier": 0,
            "exact duplicate": 0,
            "near duplicate": 1,
        },
    }


def test_check_as_a_table_and_a_list(log: Path, encoder: TableEncoder, tmp_path: Path) -> None:
    shown = run("check", log, "--task", "LaMP-2", "--list", tmp_path / "removals.jsonl")
    assert "LaMP-2: 1 users, 3 records" in shown
    assert "near duplicate" in shown
    lines = [json.loads(line) for line in (tmp_path / "removals.jsonl").read_text().splitlines()]
    assert [(line["request"], line["record"], line["reason"]) for line in lines] == [
        ("q", "1", "near duplicate"),
        ("q", "3", "target"),
    ]
    assert lines[0]["detail"] == "cosine 0.951"


def test_fields_that_nothing_reads_are_named(log: Path) -> None:
    (log / "task.toml").write_text(
        'name = "films"\ndescription = "d"\naction_field = "tag"\nmetadata_fields = ["year"]\n'
    )
    record = {"id": "1", "date": "2010", "tag": "comedy", "year": "1994", "stars": 3, "dat": "x"}
    write_jsonl(log / "histories.jsonl", [{"user_id": "ann", "records": [record]}])
    found = check_json(log, "--no-near-duplicates")["notes"]
    assert found[-1].startswith("nothing reads these fields of records: dat, stars;")


def test_misspelt_fields_of_requests_are_named(log: Path) -> None:
    asked = {"id": "q", "user_id": "ann", "dtae": "2020", "sourceid": "3", "visible": ["1"]}
    asked |= {"input": movie_input(DOG), "output": "classic"}
    (log / "train.jsonl.gz").unlink()
    write_jsonl(log / "train.jsonl", [asked])
    found = check_json(log, "--task", "LaMP-2", "--no-near-duplicates")["notes"]
    assert "nothing reads these fields of requests: dtae, sourceid" in found
    assert found[0].startswith("1 of 1 requests have no `date`, though records have:")


def test_the_near_duplicate_rule_can_be_set_and_left_out(log: Path, encoder: TableEncoder) -> None:
    strict = check_json(log, "--task", "LaMP-2", "--threshold", "0.96")
    assert strict["splits"]["train"]["removals"]["near duplicate"] == 0
    encoder.seen.clear()
    without = check_json(log, "--task", "LaMP-2", "--no-near-duplicates")
    assert without["splits"]["train"]["removals"]["near duplicate"] == 0
    assert encoder.seen == []
    with pytest.raises(ConfigError, match="between 0 and 1"):
        check_json(log, "--task", "LaMP-2", "--threshold", "7")


def test_embeddings_are_kept_for_the_next_check(log: Path, encoder: TableEncoder) -> None:
    first = check_json(log, "--task", "LaMP-2")
    encoder.seen.clear()
    assert check_json(log, "--task", "LaMP-2") == first
    assert encoder.seen == []


def test_errors_are_ours(log: Path) -> None:
    with pytest.raises(DataError, match="--task"):
        run("check", log, "--no-near-duplicates")
    with pytest.raises(UnknownNameError, match="did you mean 'LaMP-2'"):
        run("check", log, "--task", "LaMP-22")


def test_download_and_check_what_came(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    options = ("--task", "lamp2", "--split", "dev", "--to", tmp_path, "--base-url", server.url)
    folder = tmp_path / "time" / "LaMP_2"
    assert run("download", "lamp", *options).replace("\n", "") == str(folder)
    found = check_json(folder, "--no-near-duplicates")
    assert (found["records"], found["splits"]["dev"]["requests"]) == (50, 1)


def test_a_download_that_fails(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="no such file"):
        run("download", "lamp", "--to", tmp_path, "--base-url", server.url, "--protocol", "user")
    assert server.asked[0][0] == "/LaMP_1/train/train_questions.json"


@pytest.mark.parametrize("name", ["LaMP_2", "LaMP_4"])
def test_real_folders(real_data: Path, name: str) -> None:
    found = check_json(real_data / name, "--no-near-duplicates")
    train = read_log_folder(real_data / name).splits["train"]
    assert found["splits"]["train"]["requests"] == len(train)
    assert found["splits"]["train"]["requests_without_history"] == 0
