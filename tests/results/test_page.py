"""The page from files: one source or both, the same bytes each time, errors that help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.errors import ConfigError, DataError
from enough.evaluation.published_outcomes import PublishedOutcome
from enough.evaluation.published_rows import PublishedRow, publish_rows
from enough.parquet_rows import write_parquet
from enough.results.page import results_of
from enough.results.sources import read_sources
from enough.tasks import LAMP_TASKS
from tests.results.made_up import answers_about, made_up_outcomes, made_up_rows, outcomes_about

TASKS = ["LaMP-1", "LaMP-7"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows")
    rows = publish_rows(made_up_rows(TASKS, 8), [LAMP_TASKS[name] for name in TASKS])
    write_parquet(path / "rows.parquet", PublishedRow, rows, answers_about(TASKS))
    outcomes = made_up_outcomes(TASKS, 8)
    write_parquet(path / "outcomes.parquet", PublishedOutcome, outcomes, outcomes_about())
    return path


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


RUN, LENGTHS, CLOSELY, METHODS = (
    "## What was run",
    "## Net utility against fixed lengths",
    "## At λ = 0.2",
    "## All methods",
)
LOWEST = "## At λ = 0.1"


def test_one_command_writes_everything(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "docs" / "results.md"
    files = [folder / "outcomes.parquet", folder / "rows.parquet"]
    options = ["--out", page, "--machine", "one H200", "--note", "Read *this*."]
    found = json.loads(invoke("results", *files, *options, "--json"))
    assert found["page"] == str(page)
    assert [Path(one).name for one in found["figures"]] == ["quality.svg", "net-utility.svg"]
    text = page.read_text(encoding="utf-8")
    assert headings(text) == [RUN, LENGTHS, CLOSELY, METHODS]
    assert "Machine: one H200." in text
    assert "Seeds of training: 0, 1 and 2." in text
    assert "| LaMP-7 | 16 | 8 | 16 |" in text
    assert str(folder) not in text, "no machine's paths"
    assert "\n\nRead \\*this\\*.\n\n" in text
    for name in found["figures"]:
        assert f"figures/{Path(name).name}" in text
        assert Path(name).parent == page.parent / "figures"
    before = {path: Path(path).read_bytes() for path in (str(page), *found["figures"])}
    invoke("results", *reversed(files), *options)
    text_again = page.read_bytes().replace(
        b"rows.parquet outcomes.parquet", b"outcomes.parquet rows.parquet"
    )
    assert text_again == before.pop(str(page)), "in any order"
    assert all(Path(path).read_bytes() == content for path, content in before.items())


@pytest.mark.parametrize(
    ("name", "sections", "drawn"),
    [
        ("outcomes.parquet", [RUN, LENGTHS, LOWEST], ["net-utility.svg"]),
        ("rows.parquet", [RUN, METHODS], ["quality.svg", "net-utility.svg"]),
    ],
)
def test_one_source_is_enough(
    folder: Path, name: str, sections: list[str], drawn: list[str]
) -> None:
    made = results_of(read_sources([folder / name]))
    assert headings(made.text) == sections
    assert list(made.figures) == drawn


def test_every_table_is_whole(folder: Path) -> None:
    made = results_of(read_sources([folder / "outcomes.parquet", folder / "rows.parquet"]))
    for block in made.text.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count(" | ") for line in block.splitlines()}) == 1, block
    assert "nan" not in made.text
    assert "{" not in made.text


def test_errors(folder: Path, tmp_path: Path) -> None:
    outcomes = folder / "outcomes.parquet"
    with pytest.raises(ConfigError, match=r"no outcomes at λ = 0\.7; name one with --lambda: 0\.1"):
        results_of(read_sources([outcomes]), lambda_=0.7)
    with pytest.raises(ConfigError, match="both hold outcomes"):
        read_sources([outcomes, outcomes])
    with pytest.raises(ConfigError, match="give a file of outcomes"):
        read_sources([])
    other = tmp_path / "other.parquet"
    write_parquet(other, PublishedOutcome, [], {"recipe": {}})
    with pytest.raises(DataError, match="holds no published rows; make it with"):
        read_sources([other])
    write_parquet(other, PublishedRow, [], {"holds": "answers"})
    with pytest.raises(DataError, match="settings lack 'tasks'"):
        read_sources([other])
