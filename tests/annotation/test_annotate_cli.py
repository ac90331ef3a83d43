"""`enough annotate` from the outside, on rows of the made-up world, with a stand-in encoder."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.annotation.key import Key, read_key
from enough.cli.annotate import annotate_app
from enough.config import plain
from enough.data.digest import dataset_digest
from enough.data.folders import read_folder
from enough.data.synthetic import WorldConfig, make_world
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.evaluation.recipe import EvaluateConfig
from enough.evaluation.rows import write_rows
from enough.records import Dataset
from tests.data.world import write_tweet_log
from tests.evaluation.test_rows import make_row
from tests.retrieval.tiny import BagEncoder

WORLD = WorldConfig(users=6, requests_per_user=2, history=(4, 6), tasks=("LaMP-4", "LaMP-7"))


@pytest.fixture(autouse=True)
def encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def write(path: Path, datasets: list[Dataset], config: EvaluateConfig) -> Path:
    """Rows as `enough evaluate` leaves them, of two methods that always differ."""
    rows = [
        make_row(
            method=method,
            task=dataset.task.name,
            request_id=example.request.id,
            user=example.request.user,
            answer=f"{method} says so",
        )
        for dataset in datasets
        for examples in dataset.splits.values()
        for example in examples
        for method in ("enough", "bm25")
    ]
    digests = {dataset.task.name: dataset_digest(dataset) for dataset in datasets}
    write_rows(path, rows, {"recipe": {**plain(config), "methods": []}, "data": digests})
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    datasets = list(make_world(WORLD).datasets.values())
    return write(tmp_path / "rows.parquet", datasets, EvaluateConfig(world=WORLD))


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(annotate_app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def judged(key: Key, path: Path, name: str, favour: str) -> Path:
    """A file by somebody who likes one method on everything."""
    judgements = [
        {
            "pair": pair,
            "answers": dict.fromkeys(
                ("faithfulness", "style", "overall"), "left" if line.left == favour else "right"
            ),
            "seconds": 30,
        }
        for pair, line in key.lines.items()
    ]
    content = {"format": 1, "page": key.page, "annotator": name, "judgements": judgements}
    path.write_text(json.dumps(content))
    return path


def test_from_rows_to_verdicts(rows: Path, tmp_path: Path) -> None:
    shown = invoke("export", rows, "--against", "bm25", "--out", "study", "--pairs", 2)
    assert "LaMP-4: 2 pairs of" in shown and "study/key.json" in shown
    key = read_key(tmp_path / "study")
    assert len(key.lines) == 4
    files = [
        judged(key, tmp_path / f"{name}.json", name, favour)
        for name, favour in (("ann", "enough"), ("bob", "enough"), ("cem", "bm25"))
    ]
    scored: dict[str, Any] = json.loads(invoke("score", "study/key.json", *files, "--json"))
    assert (scored["method"], scored["against"]) == ("enough", "bm25")
    assert [one["finished"] for one in scored["annotators"]] == [4, 4, 4]
    assert len(scored["verdicts"]) == 9
    for verdict in scored["verdicts"]:
        assert verdict["win"]["mean"] == pytest.approx(2 / 3)
        assert verdict["loss"]["mean"] == pytest.approx(1 / 3)
        # Two of three agree everywhere: P̄ = 1/3, expected 5/9.
        assert verdict["agreement"]["kappa"] == pytest.approx(-0.5)
    table = invoke("score", "study", *files)
    assert "enough against bm25" in table
    assert "66.7%" in table and "-0.50" in table and "user style consistency" in table
    assert "ann: 4 of 4 pairs finished, 2 min" in table


def test_settings_from_a_file_and_options(rows: Path, tmp_path: Path) -> None:
    settings = tmp_path / "pairs.toml"
    settings.write_text(
        'method = "bm25"\nagainst = "enough"\ntasks = ["LaMP-7"]\npairs = 3\nseed = 5'
    )
    export = ("export", rows, "--config", settings, "--out")
    found = json.loads(invoke(*export, "a", "--json"))
    assert found["pairs"] == 3 and list(found["tasks"]) == ["LaMP-7"]
    config = read_key(tmp_path / "a").config
    assert (config.method, config.seed, config.history) == ("bm25", 5, 20)
    invoke(*export, "b", "--pairs", 1, "--history", 2, "--task", "LaMP-4", "--run", 0)
    changed = dataclasses.replace(config, pairs=1, history=2, tasks=("LaMP-4",))
    assert read_key(tmp_path / "b").config == changed


def test_data_in_a_folder(tmp_path: Path) -> None:
    tweets = {"ann": ["first tweet", "second tweet"], "bob": ["third tweet"]}
    answers = [("ann", "went out for a walk"), ("bob", "so tired now")]
    folder = write_tweet_log(tmp_path / "LaMP_7", tweets, answers)
    dataset = read_folder(folder)
    rows = write(tmp_path / "rows.parquet", [dataset], EvaluateConfig(data=(Path("moved"),)))
    compared = ("--against", "bm25", "--out", "study")
    with pytest.raises(DataError, match="moved: there is no such folder"):
        invoke("export", rows, *compared)
    invoke("export", rows, folder, *compared)
    lines = read_key(tmp_path / "study").lines.values()
    assert {(line.request_id, line.user) for line in lines} == {("q0", "ann"), ("q1", "bob")}
    assert "second tweet" in (tmp_path / "study" / "page.html").read_text()


def test_other_data_and_other_rows_are_refused(rows: Path, tmp_path: Path) -> None:
    compared = ("--against", "bm25", "--out", "study")
    with pytest.raises(UnknownNameError, match="unknown method in the rows 'purple'"):
        invoke("export", rows, "--out", "study")
    with pytest.raises(ConfigError, match="two methods, not both 'bm25'"):
        invoke("export", rows, "--method", "bm25", *compared)
    other = list(make_world(dataclasses.replace(WORLD, seed=1)).datasets.values())
    wrong = write(tmp_path / "wrong.parquet", other, EvaluateConfig(world=WORLD))
    with pytest.raises(DataError, match=r"wrong\.parquet: LaMP-4: the data are not those"):
        invoke("export", wrong, *compared)
    write_rows(tmp_path / "cell.parquet", [make_row()], {"shared": {}})
    with pytest.raises(DataError, match=r"cell\.parquet: holds no recipe"):
        invoke("export", tmp_path / "cell.parquet", *compared)
    assert not (tmp_path / "study").exists()
