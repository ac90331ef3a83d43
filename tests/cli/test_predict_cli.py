"""`enough predict` from the outside, with stand-ins for the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.errors import ConfigError, DataError
from enough.evaluation import predictions
from enough.generators.fake import FakeGenerator
from tests.cli.test_select_cli import models  # noqa: F401 (a fixture that is always used)
from tests.data.test_lamp import film, lamp_folder, question
from tests.data.world import tweet_input, write_jsonl
from tests.online.stand_ins import saved_controller

WORDS = ("bus", "tea", "rain", "train", "night")


class Counting(FakeGenerator):
    """Counts prompts; stops for good after some."""

    asked, most = 0, 1_000_000

    def generate(self, prompts: Any, max_new_tokens: int) -> list[str]:
        Counting.asked += len(prompts)
        if Counting.asked > Counting.most:
            raise RuntimeError("killed")
        return super().generate(prompts, max_new_tokens)


@pytest.fixture(autouse=True)
def generator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enough.generators.loading.load_configured", lambda _: Counting())
    monkeypatch.setattr(predictions, "_TOGETHER", 2)
    Counting.asked, Counting.most = 0, 1_000_000


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Five users, whose questions nobody has answered."""
    folder = tmp_path / "LaMP_7"
    write_jsonl(
        folder / "histories.jsonl",
        [
            {"user_id": f"u{n}", "records": [{"id": f"r{n}", "text": f"omg the {word} again"}]}
            for n, word in enumerate(WORDS)
        ],
    )
    write_jsonl(
        folder / "test.jsonl",
        [
            {"id": f"q{n}", "user_id": f"u{n}", "input": tweet_input(f"the {word} is late")}
            for n, word in enumerate(WORDS)
        ],
    )
    return folder


def run(*arguments: object) -> str:
    options = ["predict", *map(str, arguments)]
    result = CliRunner().invoke(app, options, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]


def test_every_question_is_answered_once(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = json.loads(run(log, "--out", out, "--untrained", "--json"))
    assert found["answers"] == Counting.asked == 5
    made = lines(out)
    assert [one["id"] for one in made] == [f"q{n}" for n in range(5)]
    for n, one in enumerate(made):
        # The stand-in repeats the last record it was shown.
        assert one["answer"] == (f"omg the {WORDS[n]} again" if one["records"] else "")
        assert one["policy"] == "untrained"
    outputs = json.loads((out / "LaMP_7.json").read_text())
    golds = [{"id": one["id"], "output": one["answer"]} for one in made]
    assert outputs == {"task": "LaMP_7", "golds": golds}
    run(log, "--out", out, "--untrained")
    assert Counting.asked == 5  # nothing is asked twice


def test_it_goes_on_after_a_kill(log: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    run(log, "--out", whole, "--untrained")
    Counting.asked, Counting.most = 0, 3
    with pytest.raises(RuntimeError, match="killed"):
        run(log, "--out", out, "--untrained")
    with (out / "predictions.jsonl").open("ab") as file:
        file.write(b'{"id": "q2", "us')  # as a kill may leave it
    assert not (out / "LaMP_7.json").exists()
    Counting.asked, Counting.most = 0, 1_000_000
    run(log, "--out", out, "--untrained")
    assert Counting.asked == 3
    for name in ("predictions.jsonl", "LaMP_7.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_a_few_first(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "1 answers" in run(log, "--out", out, "--untrained", "--requests", 1)
    assert len(lines(out)) == 1
    assert not (out / "LaMP_7.json").exists()
    assert "5 answers" in run(log, "--out", out, "--untrained")
    assert Counting.asked == 5


def test_official_questions_without_outputs(tmp_path: Path) -> None:
    profile = [film("1", "A dog walks home."), film("2", "A cat stays.", "classic")]
    folder = lamp_folder(tmp_path, test=[question("7", profile), question("8", profile[:1])])
    (folder / "test_outputs.json").unlink(missing_ok=True)
    run(folder, "--out", tmp_path / "out", "--untrained")
    outputs = json.loads((tmp_path / "out" / "LaMP_2.json").read_text())
    assert [one["id"] for one in outputs["golds"]] == ["7", "8"]


def test_other_settings_are_refused(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(log, "--out", out, "--untrained")
    controller = saved_controller(tmp_path / "controller")
    with pytest.raises(ConfigError, match=r"begun with another setting of selecting.controller"):
        run(log, "--out", out, "--controller", controller)
    asked = (log / "test.jsonl").read_text()
    (log / "test.jsonl").write_text(asked.replace("the tea is late", "the tea is cold"))
    with pytest.raises(ConfigError, match="begun with another setting of data"):
        run(log, "--out", out, "--untrained")
    with pytest.raises(ConfigError, match=r"--out .* is a folder of data"):
        run(log, "--out", log)
    with pytest.raises(ConfigError, match="uses no controller"):
        run(log, "--out", out, "--untrained", "--controller", controller)


def test_what_is_wrong_is_named(log: Path, tmp_path: Path) -> None:
    for split, problem in (("dev", "there is no dev.jsonl"), ("report", "has the splits train")):
        with pytest.raises(DataError, match=problem):
            run(log, "--out", tmp_path / "out", "--split", split)
    with pytest.raises(DataError, match="neither a log"):
        run(tmp_path, "--out", tmp_path / "out")
    out = tmp_path / "out"
    run(log, "--out", out, "--untrained")
    (out / "predictions.jsonl").write_text('{"id": 3}\n')
    with pytest.raises(DataError, match=r"predictions.jsonl: line 1 is no prediction"):
        run(log, "--out", out, "--untrained")
