"""The tasks a service knows, by name: the six bundled ones and those of its configuration.

In: task files. Out: tasks by the names clients send. A client's name is never a file's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from enough.errors import ConfigError, UnknownNameError
from enough.tasks import LAMP_TASKS, Task, load_task


class KnownTasks:
    """Names are compared without case, blanks and punctuation: "LaMP-2", "lamp2"."""

    def __init__(self, files: Sequence[Path] = ()) -> None:
        self._tasks: dict[str, Task] = {_plain(name): task for name, task in LAMP_TASKS.items()}
        for path in files:
            task = load_task(path)
            if (other := self._tasks.get(_plain(task.name))) is not None:
                raise ConfigError(f"{path}: a task is called {other.name!r} already; rename it")
            self._tasks[_plain(task.name)] = task

    def named(self, name: str) -> Task:
        """The task; raises UnknownNameError."""
        if (found := self._tasks.get(_plain(name))) is None:
            raise UnknownNameError("task", name[:100], [task.name for task in self._tasks.values()])
        return found

    def all(self) -> list[Task]:
        """All of them; the bundled ones first."""
        return list(self._tasks.values())


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
