from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from enough.cli.oracle import _point, oracle
from enough.errors import ConfigError, DataError
from enough.evaluation.compare_run import Contender
from enough.generators.fake import FakeGenerator
from enough.teacher.components import TargetConfig
from enough.teacher.oracle_config import OracleConfig
from tests.data.world import tweet_input, write_jsonl
from tests.retrieval.tiny import BagEncoder

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
SETTINGS = """
pool = 3
max_records = 2
requests = 2
epsilon = 0.2
[matching]
controls = 2
[retrieval]
retriever = "recency"
"""


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeGenerator:
    """Stands in for the real models; the caches around them are real ones, in an empty folder."""
    made = FakeGenerator()
    monkeypatch.setattr("enough.generators.hf.HFGenerator.load", lambda config: made)
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    return made


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "LaMP_7"
    users = [f"u{n}" for n in range(4)]
    histories = [
        {
            "user_id": user,
            "records": [
                {"id": f"{user}-{i}", "date": f"2020-01-{i + 1:02d}", "text": WORDS[(n + i) % 8]}
                for i in range(5)
            ],
        }
        for n, user in enumerate(users)
    ]
    requests = [
        {
            "id": f"q{n}",
            "user_id": user,
            "date": "2021",
            "source_id": None,
            "input": tweet_input("a walk"),
            "output": f"{WORDS[n + 3]} and {WORDS[n + 4]} along the way",
        }
        for n, user in enumerate(users)
    ]
    write_jsonl(folder / "histories.jsonl", histories)
    write_jsonl(folder / "dev.jsonl", requests)
    (tmp_path / "settings.toml").write_text(SETTINGS)
    return folder


def run(log: Path, *arguments: object) -> str:
    app = typer.Typer()
    app.command()(oracle)
    options = [log, "--config", log.parent / "settings.toml", *arguments]
    result = CliRunner().invoke(app, list(map(str, options)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_whole_way(log: Path, generator: FakeGenerator, tmp_path: Path) -> None:
    rows_file = tmp_path / "rows.jsonl"
    found: Any = json.loads(run(log, "--rows", rows_file, "--json"))
    pooled = {line["selector"]: line for line in found["summary"] if line["task"] == "all"}
    assert {line["task"] for line in found["summary"]} == {"all", "LaMP-7"}
    assert pooled["exact oracle"]["requests"] == 2
    assert (pooled["exact oracle"]["regret"], pooled["exact oracle"]["stop_agreement"]) == (0, 1)
    assert pooled["minimal sufficient"]["excess_tokens"] == 0
    assert pooled["minimal sufficient"]["sufficient"] == 1
    assert pooled["empty"]["tokens"] == 0 < pooled["empty"]["regret"]
    assert pooled["fixed k=4"]["records"] == 2  # the horizon
    rows = [json.loads(line) for line in rows_file.read_text().splitlines()]
    assert len(rows) == 2 * len(pooled)
    assert {point["epsilon"] for point in found["curve"]} >= {0.0, 0.1}


def test_the_table_and_the_request_count(log: Path, generator: FakeGenerator) -> None:
    shown = run(log, "--requests", 1)
    assert "Against the exact oracle, M'=3, K'=2, LaMP-7" in shown
    for name in ("exact oracle", "bounded teacher", "myopic", "fixed k=1"):
        assert name in shown
    assert "91.6%" in shown


def test_scores_are_kept_for_the_next_run(
    log: Path, generator: FakeGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(log, "--json")
    monkeypatch.setattr(generator, "score", None)  # not asked again
    assert run(log, "--json") == first


def test_scales_may_come_from_labels(log: Path, generator: FakeGenerator, tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    labels.mkdir()
    scale = {"gain": 1e6, "specificity": 1e6}
    manifest = {"calibration": {"LaMP-7": {"scale": scale}}, "parts": {}}
    (labels / "manifest.json").write_text(json.dumps(manifest))
    found = json.loads(run(log, "--labels", labels, "--json"))
    best = next(line for line in found["summary"] if line["selector"] == "exact oracle")
    assert best["tokens"] == 0  # nothing is worth its tokens in such units
    (labels / "manifest.json").write_text('{"calibration": {}}')
    with pytest.raises(DataError, match="holds no labels of LaMP-7"):
        run(log, "--labels", labels)


def test_nobody_is_studied_who_was_learnt_from(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = tmp_path / "labels"
    labels.mkdir()
    scale = {"gain": 1.0, "specificity": 1.0}
    manifest = {"calibration": {"LaMP-7": {"scale": scale}}, "parts": {}}
    (labels / "manifest.json").write_text(json.dumps(manifest))
    everybody = frozenset(("LaMP-7", f"u{number}") for number in range(4))
    monkeypatch.setattr("enough.evaluation.yardstick.labelled_users", lambda _: everybody)
    with pytest.raises(DataError, match="of 'dev' is among the labelled ones"):
        run(log, "--labels", labels)


def test_controllers_are_judged_at_their_own_price() -> None:
    policy: Any = None
    cheap = Contender("cheap", policy, TargetConfig(lambda_=0.1))
    dear = Contender("dear", policy, TargetConfig(lambda_=1))
    settings = OracleConfig()
    assert _point(settings, [], is_set=False) == settings.targets
    assert _point(settings, [dear], is_set=False) == dear.point
    assert _point(settings, [cheap], is_set=True) == settings.targets == cheap.point
    with pytest.raises(ConfigError, match=r"'dear' decides .* λ = 1, and .* λ = 0\.1"):
        _point(settings, [dear], is_set=True)
    with pytest.raises(ConfigError, match="'dear'"):
        _point(settings, [cheap, dear], is_set=False)


def test_errors_come_before_the_work(log: Path) -> None:
    with pytest.raises(DataError, match="no split 'train'"):
        run(log, "--split", "train")
    with pytest.raises(ConfigError, match="cannot be written"):
        run(log, "--rows", log / "no" / "rows.jsonl")
    with pytest.raises(DataError, match="labelling is not finished"):
        run(log, "--labels", log)


def test_a_request_that_does_not_fit_is_left_out(
    log: Path, generator: FakeGenerator, caplog: pytest.LogCaptureFixture
) -> None:
    generator.window = 100
    with pytest.raises(DataError, match="no request to study"):
        run(log)
    assert "left out: request" in caplog.text


def test_a_controller_is_compared_too(log: Path, generator: FakeGenerator, tmp_path: Path) -> None:
    from tests.online.stand_ins import saved_controller

    folder = saved_controller(tmp_path / "controller")
    found = json.loads(run(log, "--controller", f"ours={folder}", "--json"))
    assert "ours" in {line["selector"] for line in found["summary"]}
