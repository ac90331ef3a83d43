"""Which row of its task table a controller reads for a request.

In: the table (names and numbers) and a task's name. Out: a number. A controller that was trained
with `fit.unnamed` has a row for tasks it has never heard of.
"""

from __future__ import annotations

from collections.abc import Mapping

from enough.errors import UnknownNameError

OTHER = "*"
"""Names the row of any other task."""


def task_number(tasks: Mapping[str, int], name: str) -> int:
    """The task's own row, or that of any other task.

    Raises:
        UnknownNameError: if there is neither.
    """
    found = tasks.get(name, tasks.get(OTHER))
    if found is None:
        raise UnknownNameError("task of this controller", name, tasks)
    return found
