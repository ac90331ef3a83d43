"""When an interval says that there is a difference, and when there are too few users to say so."""

from __future__ import annotations

from enough.evaluation.intervals import Interval

FEWEST_USERS = 6
"""If chance decides, five users all lie on one side in one of sixteen cases; resampling five users
that do so gives an interval without zero every time. With six it is one in thirty-two."""


def differs(one: Interval | None, users: int, value: float = 0.0) -> bool:
    """Whether a value lies outside, and there are enough users for that to mean something."""
    return one is not None and users >= FEWEST_USERS and not one.low <= value <= one.high
