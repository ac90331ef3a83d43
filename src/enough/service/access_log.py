"""A line for every answered request, written a few times a second.

In: lines from the event loop. Out: the service's log, several lines at once. Between two encodings
every call of the logging library costs a multiple of what it costs in a loop; together they cost
little. No name of a user or a tenant is in a line.
"""

from __future__ import annotations

import asyncio
import logging

log = logging.getLogger("enough.service")
_LATE_S = 0.2  # the most that a line comes late


class AccessLog:
    """Used in the event loop alone."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, level: int, line: str) -> None:
        """One more line, unless nobody wants to read it."""
        if not log.isEnabledFor(level):
            return
        if not self._lines:
            asyncio.get_running_loop().call_later(_LATE_S, self.write)
        self._lines.append(line)

    def write(self) -> None:
        """What there is."""
        lines, self._lines = self._lines, []
        if lines:
            log.info("%s", "\n".join(lines))
