from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.moment import parse_moment, strictly_before


@pytest.mark.parametrize(
    ("raw", "moment"),
    [
        (None, None),
        ("", None),
        ("2012", (2012,)),
        (2012, (2012,)),
        (2012.0, (2012,)),
        ("2012-05", (2012, 5)),
        ("2012-5-1", (2012, 5, 1)),
        ("2011-04-18 23:09:47", (2011, 4, 18, 23, 9, 47, 0)),
        ("2024-05-01T10:00:00Z", (2024, 5, 1, 10, 0, 0, 0)),
        ("2024-05-01T10:00:00+02:00", (2024, 5, 1, 8, 0, 0, 0)),
        (1714557600, (2024, 5, 1, 10, 0, 0, 0)),
        (1714557600.5, (2024, 5, 1, 10, 0, 0, 500000)),
    ],
)
def test_times_as_logs_write_them(raw: object, moment: tuple[int, ...] | None) -> None:
    assert parse_moment(raw) == moment


@pytest.mark.parametrize(
    "raw", ["2012-13-01", "2012-02-30", "yesterday", True, [2012], "12/5/2012"]
)
def test_what_is_not_a_time_is_refused(raw: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_moment(raw)


def test_strictly_before_needs_certainty() -> None:
    assert strictly_before((2011,), (2012, 5, 1))
    assert not strictly_before((2012,), (2012, 5, 1))  # may lie after it
    assert not strictly_before((2012, 5, 1), (2012,))
    assert not strictly_before((2012, 5, 1), (2012, 5, 1))
    assert strictly_before((2012, 4), (2012, 5, 1))


precision = st.sampled_from([1, 2, 3, 7])
instants = st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1))


@given(instants, precision, instants, precision)
def test_before_means_every_instant_is(
    early: datetime, few: int, late: datetime, many: int
) -> None:
    """Against the intervals that truncated times stand for."""
    left, right = ((*x.timetuple()[:6], x.microsecond)[:n] for x, n in ((early, few), (late, many)))
    assert strictly_before(left, right) == (interval(left)[1] <= interval(right)[0])


def interval(moment: tuple[int, ...]) -> tuple[datetime, datetime]:
    year, month, day = (*moment, 1, 1)[:3]
    hour, minute, second, micro = (*moment[3:], 0, 0, 0, 0)[:4]
    start = datetime(year, month, day, hour, minute, second, micro, UTC)
    if len(moment) == 1:
        return start, start.replace(year=start.year + 1)
    if len(moment) == 2:
        return start, (start + timedelta(days=32)).replace(day=1)
    return start, start + (timedelta(days=1) if len(moment) == 3 else timedelta(microseconds=1))


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (20240301, 'no plausible time; write a day as "2024-03-01"'),
        (86400.0, "86400 seconds after 1970 are no plausible time"),
        (1709251200000, "are these milliseconds"),
        ("1709251200000", "are these milliseconds"),
    ],
)
def test_numbers_that_are_no_seconds_say_what_they_may_be(raw: object, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_moment(raw)


def test_seconds_may_be_text() -> None:
    assert parse_moment("1709251200") == parse_moment(1709251200) == (2024, 3, 1, 0, 0, 0, 0)
    assert parse_moment("20240301") == (2024, 3, 1, 0, 0, 0, 0)
