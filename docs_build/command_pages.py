"""Writes the page of the command line from the Typer app itself, while the site is built.

In: `enough.cli.app`. Out: reference/cli.md, one section for each command: what it does, how it is
called, every argument and option with its default. Typer's parameters have no public types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from enough.cli import app

PAGE = "reference/cli.md"
_HEAD = """# Command line

Made from the program itself: `enough COMMAND --help` says the same. Commands that report have
`--json`; progress goes to stderr; an error is one line that names file, line and field, and exit
status 1.

"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page to the site."""
    files.append(File.generated(config, PAGE, content=command_page()))
    return files


def command_page() -> str:
    """The page as Markdown."""
    root = typer.main.get_command(app)
    context = root.make_context("enough", [], resilient_parsing=True)
    sections = (_section(command, place) for command, place in _commands(root, context))
    return _HEAD + "\n".join(sections)


def _commands(command: Any, context: Any) -> Iterator[tuple[Any, Any]]:
    """Every command with its context, those of a group after it."""
    yield command, context
    for name, below in getattr(command, "commands", {}).items():
        inner = below.make_context(name, [], parent=context, resilient_parsing=True)
        yield from _commands(below, inner)


def _section(command: Any, context: Any) -> str:
    lines = [f"## {context.command_path}", "", *_described(command.help or ""), ""]
    pieces = " ".join(command.collect_usage_pieces(context))
    lines += ["```text", f"{context.command_path} {pieces}", "```", ""]
    if rows := [_row(param, context) for param in command.params if not param.hidden]:
        lines += ["| argument or option | |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _described(text: str) -> list[str]:
    """The help of a command; lines that are calls stand in a block of their own."""
    lines, is_code = [], False
    for line in text.replace("\b", "").strip().splitlines():
        is_call = line.strip().startswith("enough ")
        if is_call != is_code:
            lines += ["", "```sh"] if is_call else ["```", ""]
            is_code = is_call
        lines.append(line.strip() if is_call else _escaped(line.strip()))
    return [*lines, "```"] if is_code else lines


def _row(param: Any, context: Any) -> str:
    name, text = param.get_help_record(context)
    return f"| `{name}` | {_escaped(text)} |".replace("\n", " ")


def _escaped(text: str) -> str:
    """Plain text as Markdown; what stands in backticks is left as it is."""
    parts = text.replace("|", "\\|").split("`")
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(r"([*_\[\]])", r"\\\1", parts[place]).replace("<", "&lt;")
    return "`".join(parts)
