"""What commands share: progress bars on stderr, rows into files, folders with names."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from enough.errors import ConfigError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table

_SECONDS_BETWEEN_LINES = 10.0


class Update(Protocol):
    """Called with a step's name, what is done, what there is to do (None: not known), and more."""

    def __call__(self, name: str, done: int, total: int | None, note: str = "") -> None:
        """Tell how far a step is."""
        ...


@contextmanager
def progress_bars(*, of_bytes: bool = False) -> Iterator[Update]:
    """Progress bars, one for each name that is reported."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    amount = progress.DownloadColumn() if of_bytes else progress.MofNCompleteColumn()
    columns = (
        "{task.description}",
        progress.BarColumn(),
        amount,
        progress.TimeRemainingColumn(),
        "{task.fields[note]}",
    )
    with progress.Progress(*columns, console=console) as bars:
        yield _Updates(bars)


class _Updates:
    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._ids: dict[str, TaskID] = {}

    def __call__(self, name: str, done: int, total: int | None, note: str = "") -> None:
        if name not in self._ids:
            self._ids[name] = self._bars.add_task(name, note="")
        self._bars.update(self._ids[name], completed=done, total=total, note=note)


class _Lines:
    """A plain line now and then, where there is no terminal to draw on."""

    def __init__(self) -> None:
        self._told = 0.0
        self._begun: dict[str, tuple[float, int]] = {}
        self._open: set[str] = set()  # steps that were told of, but not yet that they are through

    def __call__(self, name: str, done: int, total: int | None, note: str = "") -> None:
        now = time.monotonic()
        started, first = self._begun.setdefault(name, (now, done))
        is_end = done == total and name in self._open
        if now - self._told >= _SECONDS_BETWEEN_LINES or is_end:
            (self._open.discard if done == total else self._open.add)(name)
            if total and done > first:
                left = (now - started) / (done - first) * (total - done)
                note = f"{duration(left)} left  {note}"
            amount = f"{done:,} of {total:,}" if total else f"{done:,}"
            typer.echo(f"{name}: {amount}  {note}".rstrip(), err=True)
            self._told = now


def duration(seconds: float) -> str:
    """In words, to the minute."""
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02d} h" if minutes >= 60 else f"{minutes} min"


def narrow_table(title: str, caption: str) -> Table:
    """A table without lines, so that a dozen columns fit a plain terminal."""
    from rich.table import Table

    return Table(title=title, caption=caption, pad_edge=False, box=None, padding=(0, 1, 0, 0))


def check_writable(path: Path | None) -> None:
    """Refuse an output file that cannot be written, before any work is done."""
    if path is None:
        return
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; name a file in it")
    try:
        with _unfinished(path).open("wb"):
            pass
        _unfinished(path).unlink()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror or error})") from None


def _unfinished(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def write_json_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """One JSON object a line; the file appears when it is whole."""
    from enough.data.jsonl import json_line

    unfinished = _unfinished(path)
    with unfinished.open("wb") as file:
        file.writelines(map(json_line, rows))
    unfinished.replace(path)


def one_line(text: str, width: int) -> str:
    """Text as a terminal can show it: in one line, cut, and without half characters."""
    shown = " ".join(text.split())
    shown = shown if len(shown) <= width else f"{shown[: width - 1]}…"
    return shown.encode("utf-8", "replace").decode()


def require_apart(out: Path, data: Iterable[Path]) -> None:
    """Refuse to write into a folder of data."""
    for folder in data:
        if folder.resolve() == out.resolve():
            raise ConfigError(
                f"--out {out} is a folder of data; choose another one for what is made"
            )


def named_folders(given: Sequence[str]) -> dict[str, Path]:
    """Folders by name, from FOLDER (named like its last part) or NAME=FOLDER."""
    found: dict[str, Path] = {}
    for one in given:
        name, _, folder = one.rpartition("=")
        name = name or Path(folder).name
        if name in found:
            raise ConfigError(f"two controllers are called {name!r}; give NAME=FOLDER")
        found[name] = Path(folder)
    return found
