"""Which task a folder of data belongs to.

In: a folder. Out: the `Task` that its task.toml describes or its name tells; and the text of a
task.toml for a task, so that a folder we write explains itself.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from pathlib import Path

from enough.errors import DataError, UnknownNameError
from enough.tasks import Task, load_task, task_named

TASK_FILE = "task.toml"


def folder_task(path: Path) -> Task:
    """The task a folder says it is of."""
    if (described := path / TASK_FILE).is_file():
        return load_task(described)
    try:
        return task_named(path.resolve().name)
    except UnknownNameError:
        raise DataError(
            f"neither a {TASK_FILE} nor the folder's name (such as LaMP_2) tells the task; "
            "name it with --task",
            path=path,
        ) from None


def task_as_toml(task: Task) -> str:
    """The text of a TOML file that `load_task` reads back as the same task."""
    lines = []
    for field in fields(Task):
        value = getattr(task, field.name)
        if field.default is MISSING or value != field.default:
            lines.append(f"{field.name} = {_toml(value)}\n")
    return "".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    # JSON and TOML agree on numbers, true/false and strings, except for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
