"""From `enough compare` and `enough evaluate` to files that make a page, with stand-ins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from enough.config import load_config
from enough.errors import ConfigError
from enough.evaluation.compare_run import CompareConfig
from enough.evaluation.published_outcomes import PublishedOutcome
from enough.evaluation.published_rows import hashed
from enough.parquet_rows import read_parquet, read_settings
from enough.results.operating_points import operating_points
from enough.results.page import results_of
from enough.results.sources import read_sources
from tests.cli.test_compare_cli import invoke, labels, log, trained  # noqa: F401 (fixtures)
from tests.cli.test_evaluate_cli import RECIPE
from tests.cli.test_label_cli import models  # noqa: F401 (a fixture)
from tests.evaluation.evaluate_fakes import Worded
from tests.retrieval.tiny import BagEncoder


def test_a_comparison_as_rows(
    labels: Path,  # noqa: F811
    log: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("enough.retrieval.encoders.load_encoder", BagEncoder)
    one = trained(labels, log, tmp_path / "one")
    path = tmp_path / "outcomes.parquet"
    options = ["compare", log, "--labels", labels, "--controller", one, "--requests", 5]
    (found,) = json.loads(invoke(*options, "--json", "--publish", path))
    rows = read_parquet(path, PublishedOutcome)
    lines: dict[str, Any] = {x["selector"]: x for x in found["lines"] if x["task"] == "all"}
    assert {(row.slice, row.is_reported) for row in rows} == {("report", True), ("select", False)}
    asked = lines["one"]["requests"]
    assert sum(row.is_reported for row in rows) == 5 * asked, (
        "four lengths that may be, and a controller"
    )
    assert {row.selector for row in rows if not row.is_reported} == lines.keys() - {
        "one",
        "best fixed k",
    }
    (point,) = operating_points(rows)
    assert point.ours is not None and list(point.seeds) == [0]
    assert point.ours.net.mean() == pytest.approx(lines["one"]["net"]["mean"])
    assert point.ours.gap.mean() == pytest.approx(lines["one"]["gap"])
    for k, fixed in point.fixed.items():
        assert fixed.net.mean() == pytest.approx(lines[f"fixed k={k}"]["net"]["mean"])
    assert point.fixed[point.best].net.mean() == pytest.approx(lines["best fixed k"]["net"]["mean"])
    about = read_settings(path)
    assert about["compare"]["requests"] == 5
    assert about["controllers"][0]["name"] == "one"
    assert str(tmp_path) not in json.dumps(about)
    known = {hashed(f"u{n}") for n in range(60)}
    assert {row.user.split("-")[1] for row in rows} <= known
    page = results_of(read_sources([path]), lambda_=point.lambda_)
    assert "## Net utility against fixed lengths" in page.text


def test_later_requests_of_users_who_had_been_met_are_told_apart(
    labels: Path,  # noqa: F811
    log: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("enough.retrieval.encoders.load_encoder", BagEncoder)
    one, settings = trained(labels, log, tmp_path / "one"), tmp_path / "compare.toml"
    settings.write_text("requests = 0\nreturning = true\n")
    path = tmp_path / "outcomes.parquet"
    options = ["compare", log, "--labels", labels, "--controller", one, "--config", settings]
    (found,) = json.loads(invoke(*options, "--json", "--publish", path))
    rows = read_parquet(path, PublishedOutcome)
    asked = {name: {r.request for r in rows if r.slice == name} for name in {r.slice for r in rows}}
    assert {"report", "returning/tune", "returning/label"} <= asked.keys()
    later = set().union(*(some for name, some in asked.items() if name.startswith("returning/")))
    assert asked["report"].isdisjoint(later)
    assert len(asked["report"] | later) == 35, "all of dev"
    assert len(asked["report"]) == found["lines"][0]["requests"], "who had been met is not in it"
    assert not any(row.is_reported for row in rows if row.met_in is not None)
    text = results_of(read_sources([path])).text
    assert f"{len(later)} further requests" in text and "All 35 together" in text
    with pytest.raises(ConfigError, match="--publish FILE"):
        invoke(*options)


@pytest.mark.parametrize("text", ["requests = 5", 'requests = 0\nsplit = "dev"'])
def test_who_returns_is_added_to_all_of_the_reported_slice_only(text: str, tmp_path: Path) -> None:
    settings = tmp_path / "compare.toml"
    settings.write_text(f"returning = true\n{text}\n")
    with pytest.raises(ConfigError, match=r"it needs split = \"report\" and requests = 0"):
        load_config(settings, CompareConfig)


def test_an_evaluation_as_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enough.generators.hf.HFGenerator.load", lambda config: Worded())
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    recipe, path = tmp_path / "small.toml", tmp_path / "rows.parquet"
    recipe.write_text(RECIPE + '[[methods]]\nkind = "fixed"\nk = 2\n')
    found = json.loads(invoke("evaluate", "--config", recipe, "--publish", path, "--json"))
    answers = read_sources([path]).answers
    assert answers is not None
    assert len(answers.rows) == found["rows"]
    assert answers.lengths == {"empty": 0, "fixed": 2}
    assert [one.name for one in answers.methods] == [one["name"] for one in found["methods"]]
    page = results_of(read_sources([path]))
    for line in found["methods"]:
        for metric in line["metrics"]["LaMP-7"].values():
            assert f"{metric['value']:.1f}" in page.text
    assert str(tmp_path) not in json.dumps(dict(answers.about))
