"""Requests that a comparison leaves out, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def left_out_sentence(reasons: Iterable[str]) -> str:
    """How many for which reason; "" is no reason.

    >>> left_out_sentence(["", "empty profile", "no control", "empty profile"])
    'Left out: 2 (empty profile), 1 (no control).'
    """
    counted = Counter(reason for reason in reasons if reason)
    if not counted:
        return "No request was left out."
    parts = ", ".join(f"{count} ({reason})" for reason, count in sorted(counted.items()))
    return f"Left out: {parts}."
