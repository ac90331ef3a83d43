"""What pages say is true: commands, options, functions and files they name are there."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from enough.data.folders import read_folder
from enough.tasks import LAMP_TASKS
from tests.test_readme import README

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def command_lines(page: Path) -> list[list[str]]:
    text = "\n".join(blocks(page, "sh")).replace("\\\n", " ")
    # Of others, a quotation may go over several lines.
    ours = (line for line in text.splitlines() if line.startswith("enough "))
    return [shlex.split(line.removesuffix("&"), comments=True)[1:] for line in ours]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_and_options_exist(page: Path) -> None:
    import typer.main

    from enough.cli import app

    for line in command_lines(page):
        command: Any = typer.main.get_command(app)
        words = list(line)
        while (below := getattr(command, "commands", None)) is not None:
            command = below[words.pop(0)]
        known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
        for word in words:
            if word.startswith("--"):
                assert word.partition("=")[0] in known, f"{command.name} has no {word}"


def test_every_page_has_its_place_on_the_site() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).as_posix()
        assert re.search(rf": {re.escape(name)}$", config, re.MULTILINE), (
            f"add {name} to mkdocs.yml"
        )


def test_the_quick_start_is_the_readmes() -> None:
    (code,) = blocks(DOCS / "index.md", "python")
    assert code in README.read_text(encoding="utf-8")


def test_a_log_written_as_the_page_says_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(DOCS / "own-logs.md", "python")
    exec(compile(code, "own-logs.md", "exec"), {})
    dataset = read_folder(tmp_path / "my-log")
    ((record,),) = dataset.histories.values()
    assert (record.context, record.action) == ("Where is my parcel?", "On its way!")
    (example,) = dataset.splits["dev"]
    assert (example.request.query, example.reference) == ("Is it here?", "It is!")


def test_the_settings_of_the_page_about_operations_are_settings() -> None:
    config = pytest.importorskip("enough.service.config")
    import tomllib

    from enough.config import from_table

    (text,) = blocks(DOCS / "operations.md", "toml")
    read = from_table(tomllib.loads(text), config.ServeConfig, "operations.md")
    assert read.store.is_postgresql


def test_the_method_names_every_function_it_is_computed_by() -> None:
    from enough.controller import losses
    from enough.teacher import utility

    text = (DOCS / "method.md").read_text(encoding="utf-8")
    for module in (utility, losses):
        for name, one in inspect.getmembers(module, inspect.isfunction):
            if one.__module__ == module.__name__ and not name.startswith("_"):
                assert f"#{module.__name__}.{name})" in text, name


def test_the_tasks_are_what_the_page_says() -> None:
    page = DOCS / "tasks.md"
    rows = re.findall(r"^\| (LaMP-\d) \|(.*)\|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    described = dict(reversed(rows))  # of the first table
    examples = [json.loads(line) for line in blocks(page, "json")[0].splitlines()]
    assert described.keys() == LAMP_TASKS.keys() == {name for one in examples for name in one}
    for task in LAMP_TASKS.values():
        _, context, action, *_ = (cell.strip() for cell in described[task.name].split("|"))
        assert action == f"`{task.action_field}`"
        assert context.startswith(f"`{task.context_field}`" if task.context_field else "–")
    for one in examples:
        for name, text in one.items():
            assert 5 < len(LAMP_TASKS[name].query_of(text)) < len(text) - 20
