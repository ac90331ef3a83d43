"""`enough aggregate` and `enough compare` from the outside, with stand-ins for the models."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.errors import ConfigError, DataError, ModelError
from tests.cli.test_label_cli import label, models  # noqa: F401 (fixtures)
from tests.cli.test_train_cli import SETTINGS
from tests.cli.tweets import WORDS
from tests.data.world import write_tweet_log
from tests.retrieval.tiny import BagEncoder


@pytest.fixture(autouse=True)
def encoder(monkeypatch: pytest.MonkeyPatch, models: None) -> None:  # noqa: F811
    monkeypatch.setattr("enough.retrieval.encoders.load_encoder", BagEncoder)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Forty users in train, fifteen of them and twenty others in dev."""
    tweets = {
        f"u{n}": [f"{WORDS[(n + i) % 8]} {WORDS[(n * i) % 8]} {n} {i}" for i in range(2 + n % 7)]
        for n in range(60)
    }
    answers = [
        (f"u{n}", f"{WORDS[n % 8]} and {WORDS[(n + 3) % 8]} along the way") for n in range(60)
    ]
    folder = write_tweet_log(tmp_path / "LaMP_7", tweets, answers[:40])
    write_tweet_log(tmp_path / "others", tweets, answers[25:])
    rows = (tmp_path / "others" / "train.jsonl").read_text().replace('"q', '"dev-q')
    (folder / "dev.jsonl").write_text(rows)
    return folder


@pytest.fixture
def labels(log: Path, tmp_path: Path) -> Path:
    from tests.cli.tweets import SETTINGS as LABELLING

    settings = 'split = "label"\n' + LABELLING
    (tmp_path / "settings.toml").write_text(settings)
    label(log, "--out", tmp_path / "labels")
    return tmp_path / "labels"


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def trained(labels: Path, log: Path, out: Path, kind: str = "hindsight") -> Path:
    settings = out.with_suffix(".toml")
    settings.write_text(SETTINGS.format(kind=kind))
    invoke("train", labels, log, "--out", out, "--config", settings)
    return out


def test_two_rounds_and_a_comparison(labels: Path, log: Path, tmp_path: Path) -> None:
    warm = trained(labels, log, tmp_path / "warm")
    both = tmp_path / "both"
    again = ["aggregate", labels, warm, log, "--out", both, "--workers", 1]
    first = json.loads(invoke(*again, "--json"))
    assert "0 generator calls" in invoke(*again)
    before = json.loads((labels / "manifest.json").read_text())
    after = json.loads((both / "manifest.json").read_text())
    assert after["calibration"] == before["calibration"]
    if first["visited_states"]:
        assert after["counts"]["profiles"] >= before["counts"]["profiles"]
    last = trained(both, log, tmp_path / "last")
    options = ["compare", log, "--labels", both, "--controller", f"two rounds={last}"]
    options += ["--controller", warm, "--requests", 5]
    rows = tmp_path / "rows.jsonl"
    (found,) = json.loads(invoke(*options, "--json", "--rows", rows))
    lines: dict[str, Any] = {x["selector"]: x for x in found["lines"] if x["task"] == "all"}
    assert {"fixed k=0", "fixed k=3", "best fixed k", "two rounds", "warm"} <= lines.keys()
    assert lines["fixed k=0"]["net"]["mean"] == 0
    assert lines["fixed k=0"]["root_stop"] == 1
    assert lines["two rounds"]["gap"] is not None
    written = [json.loads(line) for line in rows.read_text().splitlines()]
    assert len(written) == sum(line["requests"] for line in lines.values())
    table = invoke(*options)
    assert "two rounds" in table
    assert "users nobody learnt from" in table


def test_a_second_round_along_ways_no_reference_had_a_hand_in(
    labels: Path, log: Path, tmp_path: Path
) -> None:
    warm = trained(labels, log, tmp_path / "warm", "crossfit")
    again = ["aggregate", labels, warm, log, "--workers", 1, "--json"]
    ways = ["--walk", "out-of-fold", "--walk", "retriever"]
    few = ["--levels", "1", "--actions", "1"]
    counts = {}
    several = {"few": [*ways, *few], "one": [*ways[2:], *few], "all": ways}
    for name, options in several.items():
        found = json.loads(invoke(*again, *options, "--out", tmp_path / name))
        made = json.loads((tmp_path / name / "manifest.json").read_text())
        counts[name] = (found["visited_states"], made["counts"]["profiles"])
    assert counts["one"] < counts["few"]
    assert counts["few"][0] == counts["all"][0]
    assert counts["few"][1] < counts["all"][1]
    plain = trained(labels, log, tmp_path / "plain")
    with pytest.raises(DataError, match=r"walks.json: is not there"):
        invoke("aggregate", labels, plain, log, *ways, "--out", tmp_path / "x")


def test_labelled_users_are_not_reported(log: Path, tmp_path: Path) -> None:
    from tests.cli.tweets import SETTINGS as LABELLING

    (tmp_path / "settings.toml").write_text(LABELLING)  # all of train
    label(log, "--out", tmp_path / "all")
    with pytest.raises(DataError, match=r"of 'select' is among the labelled ones"):
        invoke("compare", log, "--labels", tmp_path / "all")


def test_bad_names_and_folders(labels: Path, log: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere"):
        invoke("compare", log, "--labels", labels, "--controller", tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="two controllers are called 'x'"):
        invoke("compare", log, "--labels", labels, "--controller", "a/x", "--controller", "b/x")
    with pytest.raises(DataError, match="no such folder"):
        invoke("aggregate", tmp_path / "nowhere", tmp_path / "x", log, "--out", tmp_path / "y")


def test_without_labels_a_controller_brings_its_scales(
    labels: Path, log: Path, tmp_path: Path
) -> None:
    """Judged alike, by the settings the labels were made with, on data that has no labels."""
    ours = trained(labels, log, tmp_path / "ours")
    options = ["--controller", ours, "--requests", 5, "--json"]
    expected = json.loads(invoke("compare", log, "--labels", labels, *options))
    how = tmp_path / "settings.toml"
    assert json.loads(invoke("compare", log, "--teacher", how, *options)) == expected
    table = invoke("compare", log, "--teacher", how, *options[:-1])
    assert "the users given" in " ".join(table.split())
    with pytest.raises(ConfigError, match="--labels or --teacher, not both"):
        invoke("compare", log, "--labels", labels, "--teacher", how)
    other = log.with_name("other")
    log.rename(other)
    with pytest.raises(DataError, match=r"ours: has no scale of posts \(but of LaMP-7\)"):
        dump_as_posts(other)
        invoke("compare", other, "--teacher", how, *options)


def dump_as_posts(folder: Path) -> None:
    """The same log under another task."""
    from enough.data.task_file import TASK_FILE, task_as_toml
    from enough.tasks import task_named

    task = dataclasses.replace(task_named("LaMP-7"), name="posts")
    (folder / TASK_FILE).write_text(task_as_toml(task))


def test_bundled_controllers_have_their_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from enough.controller.bundled import adapter_beside
    from enough.generators.config import locate_adapter

    for name in ("lamp", "synthetic"):
        beside = adapter_beside(Path(name))
        assert beside is not None
        assert locate_adapter(beside).name == name
    assert adapter_beside(Path("controllers/lamp")) is None
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    assert adapter_beside(Path("mine")) is None


def test_lengths_that_nobody_may_have_are_left_out(
    labels: Path, log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The labels' horizon is four: five records would be four under another name."""
    (found,) = json.loads(invoke("compare", log, "--labels", labels, "--requests", 5, "--json"))
    names = {line["selector"] for line in found["lines"]}
    assert {"fixed k=0", "fixed k=3"} <= names
    assert "fixed k=5" not in names
    assert "at most 4 records are taken" in caplog.text


def test_labels_do_not_go_into_a_folder_of_something_else(
    labels: Path, log: Path, tmp_path: Path
) -> None:
    ours = trained(labels, log, tmp_path / "ours")
    files = [path for path in ours.glob("*") if path.is_file()]
    before = [path.read_bytes() for path in files]
    with pytest.raises(ConfigError, match=r"ours: holds something else than labels \(controller"):
        label(log, "--out", ours)
    assert [path.read_bytes() for path in files] == before
