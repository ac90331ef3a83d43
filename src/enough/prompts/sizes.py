"""How many tokens records add to a prompt, for whole pools.

In: records of a task. Out: the length of each one's segment. The cache of segments would give it,
too, but writes to three of its links for every record it is asked about, which between two
encodings are in nobody's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from enough.protocols import Tokens
from enough.records import Record
from enough.tasks import Task


class Sizes:
    """Of one prompter.

    Args:
        segment: of a record.
        most: records of a task that are remembered; then it begins anew.
    """

    def __init__(self, segment: Callable[[Task, Record], Tokens], most: int) -> None:
        self._segment, self._most = segment, most
        self._known: dict[Task, dict[Record, int]] = {}

    def of(self, task: Task, records: Sequence[Record]) -> tuple[int, ...]:
        """Of each."""
        known = self._known.get(task)
        if known is None or len(known) > self._most:
            known = self._known[task] = {}
        try:
            return tuple([known[record] for record in records])
        except KeyError:
            pass  # nothing in here: a traceback would show the record
        known.update((record, len(self._segment(task, record))) for record in records)
        return tuple([known[record] for record in records])
