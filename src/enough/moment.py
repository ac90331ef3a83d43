"""Points in time as they occur in logs: a year, a day, a second, an epoch, or nothing.

A date is kept as the tuple of the parts that were given, in UTC. `strictly_before` compares only
the parts both sides have, so that "2012" is *not* before "2012-05-01": it may lie after it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

Moment = tuple[int, ...]
"""(year[, month[, day[, hour, minute, second, microsecond]]]) in UTC."""

# Of months, days, hours, minutes, seconds, microseconds: where each counts from, and to.
_FIRSTS, _COUNTS = (1, 1, 0, 0, 0, 0), (12, 31, 24, 60, 60, 1_000_000)
_DATE_ONLY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\Z")
_EPOCH = re.compile(r"-?\d{9,}(?:\.\d*)?\Z")  # as tables write it; eight digits are a date
_YEAR_S = 31_536_000


def parse_moment(raw: object) -> Moment | None:
    """Parse a date, an ISO 8601 timestamp or epoch seconds; None and "" mean "no time".

    Raises:
        ValueError: if there is a value but it is not a time.
    """
    if raw is None or raw == "":
        return None
    if isinstance(raw, bool):
        raise ValueError(f"{raw!r} is not a time")
    if isinstance(raw, (int, float)):
        # A bare year is far below any plausible epoch (1971 and later), so both can be accepted;
        # tables of numbers with gaps are often exported as floats.
        if 1000 <= raw <= 9999 and raw == int(raw):
            return (int(raw),)
        return _parts(_of_epoch(raw))
    if not isinstance(raw, str):
        raise ValueError(f"{raw!r} is not a time")
    text = raw.strip()
    if match := _DATE_ONLY.match(text):
        parts = tuple(int(part) for part in match.groups() if part is not None)
        year, month, day = (*parts, 1, 1)[:3]
        datetime(year, month, day)  # rejects month 13 and day 32
        return parts
    if _EPOCH.match(text):
        return _parts(_of_epoch(float(text)))
    moment = datetime.fromisoformat(text)
    return _parts(moment if moment.tzinfo is None else moment.astimezone(UTC))


def _of_epoch(seconds: float) -> datetime:
    if 0 < seconds < _YEAR_S:
        whole = f"{seconds:.0f}"
        hint = f'; write a day as "{whole[:4]}-{whole[4:6]}-{whole[6:]}"' if len(whole) == 8 else ""
        raise ValueError(f"{whole} seconds after 1970 are no plausible time{hint}")
    if abs(seconds) >= 1e11:
        raise ValueError(
            f"{seconds:.0f} is too large for seconds since 1970; are these milliseconds?"
        )
    return datetime.fromtimestamp(seconds, UTC)


def _parts(moment: datetime) -> Moment:
    return (*moment.timetuple()[:6], moment.microsecond)


def strictly_before(earlier: Moment, later: Moment) -> bool:
    """True only if every instant that `earlier` can mean precedes every one of `later`."""
    shared = min(len(earlier), len(later))
    return earlier[:shared] < later[:shared]


def as_years(moment: Moment) -> float:
    """Years as a number: the middle of what the moment can mean."""
    years, unit = float(moment[0]), 1.0
    for part, first, count in zip(moment[1:], _FIRSTS, _COUNTS, strict=False):
        unit /= count
        years += (part - first) * unit
    return years + unit / 2
