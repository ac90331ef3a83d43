from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from enough.cli.match import _print_table, match
from enough.data.folders import read_folder
from enough.data.splits import study_slices
from enough.errors import ConfigError, DataError, UnknownNameError
from tests.data.world import movie_input, tweet_input, write_jsonl
from tests.retrieval.tiny import WORDS, BagEncoder


@pytest.fixture(autouse=True)
def encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))


def some_words(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(WORDS, 15))


@pytest.fixture
def films(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    users = [
        {
            "user_id": f"u{k}",
            "records": [
                {"id": f"{k}.{i}", "date": str(2000 + i), "description": some_words(rng)}
                | {"tag": "classic"}
                for i in range(6)
            ],
        }
        for k in range(12)
    ]
    requests = [
        {"id": f"q{k}", "user_id": f"u{k}", "date": "2009", "source_id": None}
        | {"input": movie_input(some_words(rng)), "output": "classic"}
        for k in range(12)
    ]
    write_jsonl(tmp_path / "LaMP_2" / "histories.jsonl", users)
    write_jsonl(tmp_path / "LaMP_2" / "train.jsonl", requests)
    return tmp_path / "LaMP_2"


@pytest.fixture
def tweets(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    users = [
        {
            "user_id": f"u{k}",
            "records": [{"id": f"{k}.{i}", "text": some_words(rng)} for i in range(3)],
        }
        for k in range(9)
    ]
    asked = {"id": "q", "user_id": "u1", "input": tweet_input(some_words(rng)), "output": "w1"}
    write_jsonl(tmp_path / "LaMP_7" / "histories.jsonl", users)
    write_jsonl(tmp_path / "LaMP_7" / "train.jsonl", [asked])
    return tmp_path / "LaMP_7"


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.toml"
    path.write_text("[retrieval]\npool = 4\n[matching]\ncontent = 2\nlength = 9\nrelevance = 2\n")
    return path


def run(*arguments: object) -> str:
    app = typer.Typer()
    app.command()(match)
    result = CliRunner().invoke(app, [str(part) for part in arguments], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(*arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(*arguments, "--json"))
    return found


def test_one_row_per_task_then_all_then_the_paper(films: Path, tweets: Path, wide: Path) -> None:
    movies, posts, everything, paper = rows(films, tweets, "--config", wide)
    assert [movies["task"], posts["task"], everything["task"]] == ["LaMP-2", "LaMP-7", "all"]
    assert (movies["requests"], movies["records"]) == (12, 48)
    assert movies["coverage"] == 1
    assert set(movies["smd"]) == {"log length", "relevance", "time"}
    assert (posts["records"], posts["mean_smd"], posts["exact"]) == (3, None, None)
    assert everything["records"] == 51
    assert everything["mean_smd"] == movies["mean_smd"]
    assert (paper["coverage"], paper["mean_smd"]) == (0.875, 0.04)


def test_the_table_shows_the_same(films: Path, tweets: Path, wide: Path) -> None:
    shown = run(films, tweets, "--config", wide)
    for part in ("LaMP-2", "LaMP-7", "all", "paper", "100.0%", "87.5%", "8.1%", "31.1%", "0.083"):
        assert part in shown


def test_some_requests_are_enough(films: Path) -> None:
    movies, *_ = rows(films, "--requests", 5)
    assert movies["requests"] == 5


def test_a_slice_of_a_study_and_its_shares(films: Path, tmp_path: Path) -> None:
    (films / "dev.jsonl").write_bytes((films / "train.jsonl").read_bytes().replace(b'"q', b'"d'))
    shares = {"tune": 0.2, "label": 0.5, "select": 0.1, "report": 0.2}
    slices = study_slices(read_folder(films), shares, seed=3)
    config = tmp_path / "slices.toml"
    config.write_text("[slices]\ntune = 0.2\nlabel = 0.5\nseed = 3\n")
    for name in ("label", "report"):
        movies, *_ = rows(films, "--split", name, "--config", config)
        assert movies["requests"] == len(slices[name])
    assert 0 < len(slices["label"]) < 12


def test_brackets_in_names_are_printed_as_they_are(
    films: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    odd = tmp_path / "out[" / "x]" / "LaMP_2"
    odd.parent.mkdir(parents=True)
    films.rename(odd)
    assert "LaMP-2" in run(odd)
    _print_table([{"task": "mine[/x] [bold]"}])
    assert "mine[/x] [bold]" in capsys.readouterr().out


def test_what_cannot_be_is_said(films: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no split 'dev'"):
        run(films, "--split", "dev")
    with pytest.raises(DataError, match="no such folder"):
        run(tmp_path / "nothing")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[matching]\ncontrols = 0\n")
    with pytest.raises(ConfigError, match=r"wrong.toml: matching: matching.controls"):
        run(films, "--config", wrong)
    wrong.write_text("[matching]\ncaliper = 1\n")
    with pytest.raises(UnknownNameError, match="caliper"):
        run(films, "--config", wrong)
