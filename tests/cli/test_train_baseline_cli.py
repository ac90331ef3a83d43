"""`enough train --method` from the outside, with stand-ins for the models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.errors import ConfigError, DataError, EnoughError, ModelError, UnknownNameError
from tests.cli.test_evaluate_cli import invoke, models, recipe  # noqa: F401 (fixtures)


def test_a_method_is_trained_once_and_evaluated_from_its_folder(
    recipe: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    out = tmp_path / "ropg"
    command = ["train", "--method", "ropg-kd", "--config", recipe, "--out", out, "--seed", "1"]
    report = json.loads(invoke(*command, "--json"))
    assert report["lessons"] == report["chosen_on"] == 3
    assert {path.name for path in out.iterdir()} == {
        "made_from.json",
        "method.json",
        "weights.safetensors",
    }
    before = (out / "method.json").stat().st_mtime_ns
    assert json.loads(invoke(*command, "--json")) == report
    assert (out / "method.json").stat().st_mtime_ns == before
    assert f"ropg-kd is in {out}" in invoke(*command)
    with pytest.raises(ConfigError, match=r"was trained with another setting of seed \(1, now 2\)"):
        invoke(*command[:-1], "2")

    shown = recipe.read_text().replace("k = 2\n[methods.fit]", f'folder = "{out}"\n[methods.fit]')
    recipe.write_text(shown)
    found = json.loads(invoke("evaluate", "--config", recipe, "--json"))
    assert found["runs"] == 1
    assert not (tmp_path / "runs" / "small" / "trained").exists()


def test_settings_are_those_of_the_recipe(recipe: Path, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "ropg"
    invoke("train", "--method", "ropg-kd", "--config", recipe, "--out", out)
    made_from = json.loads((out / "made_from.json").read_text())["settings"]
    assert (made_from["kind"], made_from["seed"], made_from["lessons"]) == ("ropg-kd", 0, 3)
    assert made_from["settings"]["fit"]["steps"] == 3
    assert made_from["retrieval"]["pool"] == 5
    shorter = recipe.read_text().replace("steps = 3", "steps = 2")
    recipe.write_text(shorter.replace("k = 2\n[methods.fit]", f'folder = "{out}"\n[methods.fit]'))
    with pytest.raises(ModelError, match=r"was trained with another setting of fit\.steps"):
        invoke("evaluate", "--config", recipe)


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        (["--method", "nonsense"], UnknownNameError, "unknown method 'nonsense'"),
        (["--method", "purpel"], UnknownNameError, "did you mean 'purple'"),
        (["--method", "bm25"], ConfigError, "'bm25' learns nothing; those that do: replug, "),
        (["--method", "purple", "--beta", "1"], ConfigError, "--beta is for ENOUGH's controller"),
        (["--method", "purple", "--lambda", "1"], ConfigError, "--lambda is for ENOUGH's"),
        (["--method", "purple", "--kind", "myopic"], ConfigError, "--kind is for ENOUGH's"),
        (["--method", "purple", "--chooser", "x"], ConfigError, "--chooser is for ENOUGH's"),
        (["--method", "purple", "nowhere"], DataError, "nowhere"),
        (["--method", "purple", "--config", "no.toml"], ConfigError, "no.toml: cannot be read"),
        ([], ConfigError, "give the folder of `enough label`, then the folders"),
        (["labels"], ConfigError, "give the folder of `enough label`, then the folders"),
    ],
)
def test_errors_name_what_is_wrong(
    tmp_path: Path, arguments: list[str], error: type[EnoughError], told: str
) -> None:
    command = ["train", *arguments, "--out", str(tmp_path / "out")]
    with pytest.raises(error) as raised:
        CliRunner().invoke(app, command, catch_exceptions=False)
    assert told in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_left_alone(
    recipe: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConfigError, match="mine: is there, but no trained method; name another"):
        invoke("train", "--method", "ropg-kd", "--config", recipe, "--out", tmp_path / "mine")
    assert list((tmp_path / "mine").iterdir()) == []
