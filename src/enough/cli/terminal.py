"""What commands share towards the terminal: progress bars on stderr, rows into files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Update = Callable[[str, int, int | None], None]
"""Called with a step's name, what is done and what there is to do (None: not known)."""


@contextmanager
def progress_bars(*, of_bytes: bool = False) -> Iterator[Update]:
    """Progress bars, one for each name that is reported."""
    from rich import progress
    from rich.console import Console

    amount = progress.DownloadColumn() if of_bytes else progress.MofNCompleteColumn()
    columns = ("{task.description}", progress.BarColumn(), amount, progress.TimeRemainingColumn())
    with progress.Progress(*columns, console=Console(stderr=True)) as bars:
        yield _Updates(bars)


class _Updates:
    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._ids: dict[str, TaskID] = {}

    def __call__(self, name: str, done: int, total: int | None) -> None:
        if name not in self._ids:
            self._ids[name] = self._bars.add_task(name)
        self._bars.update(self._ids[name], completed=done, total=total)


def write_json_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """One JSON object a line; the file appears when it is whole."""
    from enough.data.jsonl import json_line

    unfinished = path.with_name(f"{path.name}.part")
    with unfinished.open("wb") as file:
        file.writelines(map(json_line, rows))
    unfinished.replace(path)


def one_line(text: str, width: int) -> str:
    """Text as a terminal can show it: in one line, cut, and without half characters."""
    shown = " ".join(text.split())
    shown = shown if len(shown) <= width else f"{shown[: width - 1]}…"
    return shown.encode("utf-8", "replace").decode()
