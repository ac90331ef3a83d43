"""The README's code runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.lm
def test_the_ten_lines_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(README), "exec"), {})
    shown = capsys.readouterr().out
    said = re.search(r"It prints `(.*?)`", README.read_text(encoding="utf-8"))
    assert said is not None
    assert shown.startswith(f"{said[1]}\n")
    assert "[USER_ACTION] Spel It Rite" in shown
    assert "policy: controller" in shown


def test_every_command_it_names_exists() -> None:
    from typer.testing import CliRunner

    from enough.cli import app

    text = README.read_text(encoding="utf-8")
    for command in set(re.findall(r"^enough ((?:data |bench )?[a-z]+)", text, re.MULTILINE)):
        result = CliRunner().invoke(app, [*command.split(), "--help"])
        assert result.exit_code == 0, command


def test_every_file_it_names_exists() -> None:
    for name in re.findall(r"\]\(([\w./-]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / name).is_file(), name
