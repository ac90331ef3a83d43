"""`enough train` from the outside: labels in, a controller out, with stand-ins for the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.controller.checkpoint import load_controller
from enough.errors import ConfigError, DataError, UnknownNameError
from tests.cli.test_label_cli import label, log, models  # noqa: F401 (fixtures)

SETTINGS = """
kind = "{kind}"
folds = 3
[fit]
steps = 30
requests = 8
check_every = 10
save_every = 1
[model]
hidden = 16
heads = 2
"""


def train(labels: Path, log_folder: Path, out: Path, *arguments: object) -> str:
    options = ["train", labels, log_folder, "--out", out, *arguments]
    result = CliRunner().invoke(app, list(map(str, options)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from tests.retrieval.tiny import BagEncoder

    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    path = tmp_path / "train.toml"
    path.write_text(SETTINGS.format(kind="crossfit"))
    return path


@pytest.fixture
def labels(log: Path, tmp_path: Path) -> Path:  # noqa: F811
    label(log, "--out", tmp_path / "labels")
    return tmp_path / "labels"


@pytest.mark.parametrize("kind", ["crossfit", "hindsight", "myopic"])
def test_the_whole_way(
    labels: Path,
    log: Path,  # noqa: F811
    settings: Path,
    tmp_path: Path,
    kind: str,
) -> None:
    settings.write_text(SETTINGS.format(kind=kind))
    out = tmp_path / "controller"
    found: Any = json.loads(train(labels, log, out, "--config", settings, "--json"))
    assert found["kind"] == kind
    assert found["training_requests"] + found["selection_requests"] == 20
    pooled = found["selection"][-1]
    assert pooled["task"] == "all"
    assert pooled["gap"] == pytest.approx(pooled["promised"] - pooled["net"])
    assert pooled["net"] <= pooled["best"] + 1e-9
    assert found["stopping"]["states"] > 0
    assert 0 <= found["stopping"]["ece"] <= 1
    loaded = load_controller(out, encoder="bag")
    assert loaded.report["kind"] == kind
    assert loaded.made_with.generator == "fake-1"
    again = json.loads(train(labels, log, out, "--config", settings, "--json"))
    assert [found.pop("this_run")["was_there"], again.pop("this_run")["was_there"]] == [False, True]
    assert again == found


def test_the_table(labels: Path, log: Path, settings: Path, tmp_path: Path) -> None:  # noqa: F811
    for ending in ("Controller written to", "Done already"):
        shown = train(labels, log, tmp_path / "c", "--config", settings)
        assert "promised" in shown
        assert "LaMP-7" in shown
        assert "AUROC" in shown
        assert ending in shown


@pytest.mark.parametrize(
    ("table", "at", "value"),
    [
        ("[model]\nsingle_head = true", "model.single_head", True),
        ("[model]\nordered = false", "model.ordered", False),
        ("[model]\nfeatures = false", "model.features", False),
        ('kind = "myopic"', "report.kind", "myopic"),
        ('kind = "crossfit"\nfolds = 3', "report.kind", "crossfit"),
        ("[loss]\nrank = 0", "report.kind", "hindsight"),
        ("[loss]\nstop = 0", "report.kind", "hindsight"),
        ("[targets]\nbeta = 0", "beta", 0.0),
        ("[targets]\nlambda = 0", "lambda", 0.0),
    ],
    ids=lambda text: text.replace("\n", " ") if isinstance(text, str) else str(text),
)
def test_variants_are_settings(
    labels: Path,
    log: Path,  # noqa: F811
    settings: Path,
    tmp_path: Path,
    table: str,
    at: str,
    value: object,
) -> None:
    """Each against the paper's hindsight targets with everything else as it comes."""
    short = "[fit]\nsteps = 4\ncheck_every = 2\nrequests = 4\n"
    last = []
    for name, changes in (("plain", ""), ("variant", table)):
        top = "" if "kind" in changes else 'kind = "hindsight"\n'
        settings.write_text(f"{top}{changes}\n{short}")
        train(labels, log, tmp_path / name, "--config", settings)
        last.append(json.loads((tmp_path / name / "scalars.jsonl").read_text().splitlines()[-1]))
    found: Any = json.loads((tmp_path / "variant" / "controller.json").read_text())
    for key in at.split("."):
        found = found[key]
    assert found == value
    assert last[0]["training/loss"] != last[1]["training/loss"]
    missing = {"[loss]\nrank = 0": "selection/rank", "[loss]\nstop = 0": "selection/stop"}
    assert set(last[0]) - set(last[1]) == ({missing[table]} if table in missing else set())


def test_options_go_before_the_file(
    labels: Path,
    log: Path,  # noqa: F811
    settings: Path,
    tmp_path: Path,
) -> None:
    def options(*more: object) -> Any:
        given = ("--config", settings, "--json", "--beta", "0.2", "--lambda", "0.3", *more)
        return json.loads(train(labels, log, tmp_path / f"c{len(more)}", *given))

    found = options("--kind", "myopic", "--seed", "4")
    assert [found[k] for k in ("beta", "lambda", "kind", "seed")] == [0.2, 0.3, "myopic", 4]
    chosen = options("--chooser", tmp_path / "c4")
    assert chosen["kind"] == "crossfit"
    assert (chosen["chooser"]["by"], chosen["chooser"]["kind"]) == ("controller", "myopic")
    with pytest.raises(UnknownNameError, match="unknown kind of targets 'mypic'"):
        options("--kind", "mypic")


def test_errors_name_what_is_wrong(
    labels: Path,
    log: Path,  # noqa: F811
    settings: Path,
    tmp_path: Path,
) -> None:
    settings.write_text("folds = 2\n")
    with pytest.raises(ConfigError, match="folds must be at least 3"):
        train(labels, log, tmp_path / "c", "--config", settings)
    with pytest.raises(ConfigError, match="one folder per task"):
        train(labels, log, tmp_path / "c", log)
    with pytest.raises(DataError, match="nowhere: there is no such folder"):
        train(tmp_path / "nowhere", log, tmp_path / "c")
    lines = (log / "train.jsonl").read_text().splitlines(keepends=True)
    (log / "train.jsonl").write_text("".join(lines[1:]))
    with pytest.raises(DataError, match="is not in the data given"):
        train(labels, log, tmp_path / "c")
    settings.write_text("[fit]\nseed = 3\n")
    with pytest.raises(UnknownNameError, match=r"unknown key in .*'seed'"):
        train(labels, log, tmp_path / "c", "--config", settings)
    assert not (tmp_path / "c").exists()


def test_a_price_with_labels_fits_the_probability_of_stopping_anew(
    labels: Path,
    log: Path,  # noqa: F811
    settings: Path,
    tmp_path: Path,
) -> None:
    train(labels, log, tmp_path / "trained", "--config", settings)

    def price(name: str, *more: object) -> dict[str, Any]:
        options = ["price", tmp_path / "trained", *more, "--out", tmp_path / name]
        CliRunner().invoke(app, list(map(str, options)), catch_exceptions=False)
        found: dict[str, Any] = json.loads((tmp_path / name / "controller.json").read_text())
        return found

    first = json.loads((tmp_path / "trained" / "controller.json").read_text())
    same = price("same", labels, log)
    for name in ("stop_temperature", "stop_offset"):
        assert same[name] == first[name], "what its training fitted"
    assert same["report"]["selection"] == first["report"]["selection"]
    kept, anew = price("kept", "--lambda", 5), price("anew", labels, log, "--lambda", 5)
    assert (kept["lambda"], anew["lambda"]) == (5, 5)
    assert kept["stop_temperature"] == first["stop_temperature"]
    assert anew["report"]["stopping"]["temperature_before"] == first["stop_temperature"]
    assert anew["report"]["selection"] != first["report"]["selection"]
    everybody = price("others", labels, log, "--others")
    stopping = [one["report"]["stopping"]["states"] for one in (same, everybody)]
    assert stopping[0] < stopping[1], "not its selection part alone"
    with pytest.raises(ConfigError, match="after the labels name the folders"):
        price("none", labels)
    with pytest.raises(ConfigError, match="--others is about labels"):
        price("none", "--others")
