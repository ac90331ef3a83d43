from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from enough.cli import app, main
from enough.cli.terminal import _Lines, require_apart
from enough.errors import ConfigError


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "enough", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_errors_are_one_line_and_no_traceback(tmp_path: Path) -> None:
    done = run("data", "check", str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["data", "check", "--list"], ["lengths", "--rows"]])
def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, command: list[str]
) -> None:
    log = tmp_path / "LaMP_7"
    log.mkdir()
    (log / "histories.jsonl").write_text('{"user_id": "a", "records": []}\n')
    (log / "dev.jsonl").write_text(
        '{"id": "q", "user_id": "a", "date": null, "source_id": null, '
        '"input": "x: y", "output": "z"}\n'
    )
    done = run(*command, str(tmp_path / "no" / "rows.jsonl"), str(log))
    assert done.returncode == 1
    assert "rows.jsonl: cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_printed() -> None:
    assert run("--version").stdout.strip()[0].isdigit()


def test_no_help_has_brackets_that_the_terminal_takes_for_colours() -> None:
    """`[engine]` in a text would be gone without a trace."""
    asked: list[Any] = [typer.main.get_command(app)]
    texts = []
    while asked:
        command = asked.pop()
        asked += getattr(command, "commands", {}).values()
        texts += [command.help or "", *(getattr(one, "help", "") or "" for one in command.params)]
    assert len(texts) > 200
    assert [text for text in texts if re.search(r"\[[a-z]", text)] == []


def test_what_is_made_is_not_put_into_data(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder of data; choose another one"):
        require_apart(tmp_path / "log" / ".." / "log", [tmp_path / "other", tmp_path / "log"])
    require_apart(tmp_path / "labels", [tmp_path / "log"])


def test_a_step_that_was_told_of_is_told_to_be_through(capsys: pytest.CaptureFixture[str]) -> None:
    update = _Lines()
    update("first", 1, 9)
    for done in range(2, 10):
        update("first", done, 9)
    update("second", 1, 1)  # within ten seconds, and never begun
    assert capsys.readouterr().err == "first: 1 of 9\nfirst: 9 of 9  0 min left\n"


def test_an_interruption_says_that_work_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("enough.data.folders.read_folder", interrupted)
    monkeypatch.setattr("sys.argv", ["enough", "data", "check", "nowhere"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 130
    assert "the same command goes on" in capsys.readouterr().err
