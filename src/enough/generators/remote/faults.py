"""What can go wrong between a client and a server, and whether to try again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_PASSING = frozenset({408, 409, 425, 429})
_MOST_SECONDS = 600.0  # of a Retry-After


class Fault(Exception):  # noqa: N818 (not an error of the user's: it is tried again)
    """A request that failed and may succeed when it is made again.

    Attributes:
        wait: seconds the server asks for, if it says so.
    """

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def is_passing(status: int) -> bool:
    """Whether an HTTP status may be another one in a moment."""
    return status in _PASSING or status >= 500


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """What Retry-After says, in seconds from now: it holds a number or a date."""
    said = headers.get("retry-after", "").strip()
    if not said:
        return None
    try:
        seconds = float(said)
    except ValueError:
        try:
            then = parsedate_to_datetime(said)
        except ValueError:
            return None
        then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
        seconds = (then - datetime.now(UTC)).total_seconds()
    return None if math.isnan(seconds) else min(max(seconds, 0.0), _MOST_SECONDS)
