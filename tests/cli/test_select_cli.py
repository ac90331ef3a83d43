"""`enough select` from the outside, with stand-ins for the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.errors import ConfigError, DataError, ModelError, UnknownNameError
from enough.generators.fake import FakeTokenizer
from enough.generators.prompt_side import PromptSide
from enough.prompts.template import parse_prompt
from tests.cli.test_main import run as run_program
from tests.data.world import tweet_input, write_jsonl
from tests.online.stand_ins import saved_controller
from tests.retrieval.tiny import BagEncoder

TEXTS = ["omg the bus is late", "omg no tea", "omg the bus never came", "walking home at night"]


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    side = PromptSide(FakeTokenizer(), 2000)
    monkeypatch.setattr("enough.generators.prompt_side.load_prompt_side", lambda _name: side)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "LaMP_7"
    records = [{"id": f"r{i}", "date": f"202{i}", "text": t} for i, t in enumerate(TEXTS)]
    write_jsonl(folder / "histories.jsonl", [{"user_id": "ann", "records": records}])
    for split, name, date in (("train", "old-1", "2022"), ("dev", "new-1", "2025")):
        asked = {"id": name, "user_id": "ann", "date": date, "source_id": None}
        asked |= {"input": tweet_input("the bus is not here"), "output": "omg no bus"}
        write_jsonl(folder / f"{split}.jsonl", [asked])
    return folder


@pytest.fixture
def history(tmp_path: Path) -> Path:
    write_jsonl(
        tmp_path / "history.jsonl", [{"id": f"r{i}", "text": t} for i, t in enumerate(TEXTS)]
    )
    return tmp_path / "history.jsonl"


def run(*arguments: object) -> str:
    options = ["select", *map(str, arguments)]
    result = CliRunner().invoke(app, options, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def as_json(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json"))
    return found


def test_the_first_request_of_a_folder(log: Path) -> None:
    shown = run(log)
    assert "LaMP-7, request new-1: the bus is not here" in shown
    assert "1. r0  2020  omg the bus is late" in shown
    assert "fewer than the retriever's first five" in shown
    assert "policy: untrained (nothing personal is learnt)" in shown
    assert "left out, valued below stopping:" in shown


def test_as_json(log: Path) -> None:
    found = as_json(log)
    assert (found["request"], found["user"], found["policy"]) == ("new-1", "ann", "untrained")
    ids = [record["id"] for record in found["records"]]
    assert ids[0] == "r0"
    assert sorted(ids + [one["id"] for one in found["left_out"]]) == ["r0", "r1", "r2", "r3"]
    assert found["tokens"] + found["tokens_saved"] > found["tokens"] > 0


def test_another_request_needs_no_split(log: Path) -> None:
    found = as_json(log, "--request", "old-1")
    assert found["request"] == "old-1"
    late = [one["id"] for one in found["left_out"] if one["why"] == "not legal"]
    assert late == ["r2", "r3"]
    assert as_json(log, "--split", "train")["request"] == "old-1"


def test_the_prompt_and_nothing_else(log: Path) -> None:
    shown = run(log, "--prompt")
    assert shown == as_json(log)["prompt"]
    assert parse_prompt(shown).records[0].action == "omg the bus is late"


def test_a_history_file(history: Path) -> None:
    options = ("--history", history, "--task", "LaMP-7", "--input", "Paraphrase: the bus is slow")
    found = as_json(*options)
    assert (found["task"], found["user"]) == ("LaMP-7", "user")
    assert found["records"][0]["id"] == "r0"
    assert as_json(*options, "--max-records", 0)["records"] == []


def test_a_controller(log: Path, tmp_path: Path) -> None:
    folder = saved_controller(tmp_path / "c")
    found = as_json(log, "--controller", folder)
    assert found["policy"] == "controller"
    assert set(found["trace"][0]["stop"]) == {"gain", "specificity", "cost", "net"}
    assert 0 <= found["trace"][0]["stop_probability"] <= 1
    assert "gain" in run(log, "--controller", folder)
    other = saved_controller(tmp_path / "d", tokenizer="qwen")
    with pytest.raises(ModelError, match="another tokenizer"):
        run(log, "--controller", other)


def test_untrained_on_demand(log: Path, tmp_path: Path) -> None:
    assert as_json(log, "--untrained")["policy"] == "untrained"
    with pytest.raises(ConfigError, match="--untrained or --controller"):
        run(log, "--untrained", "--controller", saved_controller(tmp_path / "c"))


def test_settings(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "select.toml"
    path.write_text("max_records = 4\n[untrained]\nleast_relevance = 0\ndiversity = 0\nprice = 0\n")
    assert len(as_json(log, "--config", path)["records"]) > len(as_json(log)["records"])
    assert len(as_json(log, "--config", path, "--max-records", 1)["records"]) == 1
    path.write_text("[untrained]\nprize = 1\n")
    with pytest.raises(UnknownNameError, match="prize"):
        run(log, "--config", path)


def test_what_does_not_go_together(log: Path, history: Path) -> None:
    for wrong, said in (
        ((), "either a folder or --history"),
        ((log, "--history", history), "either a folder or --history"),
        ((log, "--input", "x"), "go with --history"),
        (("--history", history, "--input", "a: b"), "--history needs --task"),
        (("--history", history, "--task", "LaMP-7"), "--history needs --input"),
        (("--history", history, "--task", "LaMP-7", "--input", "a: b", "--request", "q"), "folder"),
        ((log, "--prompt", "--json"), "not both"),
    ):
        with pytest.raises(ConfigError, match=said):
            run(*wrong)


def test_bad_input_is_named(log: Path, history: Path) -> None:
    with pytest.raises(DataError, match=r"no request 'new-2'; near ones: new-1"):
        run(log, "--request", "new-2")
    with pytest.raises(DataError, match="no split 'test'"):
        run(log, "--split", "test")
    with pytest.raises(DataError, match="does not have the form of LaMP-7"):
        run("--history", history, "--task", "LaMP-7", "--input", "no colon")
    with history.open("a") as file:
        file.write("{broken\n")
    with pytest.raises(DataError, match=r"history.jsonl:5: not JSON"):
        run("--history", history, "--task", "LaMP-7", "--input", "a: b")


def test_half_characters_can_be_shown(log: Path) -> None:
    lines = (log / "histories.jsonl").read_text().replace('"r0"', '"r\\ud800"')
    (log / "histories.jsonl").write_text(lines)
    assert "1. r?" in run(log)
    assert as_json(log)["records"][0]["id"] == "r\ud800"


def test_an_error_is_one_line_and_status_1(tmp_path: Path) -> None:
    done = run_program("select", str(tmp_path / "nowhere"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
