"""When a difference may be called one."""

from __future__ import annotations

from enough.diagnostics.told_apart import differs
from enough.evaluation.intervals import Interval


def test_zero_must_lie_outside_and_users_must_be_six() -> None:
    assert differs(Interval(0.2, 0.1, 0.3), 6) and differs(Interval(-0.2, -0.3, -0.1), 60)
    assert not differs(Interval(0.2, 0.0, 0.3), 6)
    assert not differs(Interval(0.2, -0.1, 0.3), 60)
    assert not differs(Interval(0.2, 0.1, 0.3), 5)
    assert not differs(None, 60)
    assert differs(Interval(0.7, 0.6, 0.8), 6, 0.5) and not differs(Interval(0.6, 0.4, 0.8), 6, 0.5)
