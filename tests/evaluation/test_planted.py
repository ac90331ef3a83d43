"""Precision and recall of planted records, on a truth made by hand."""

from __future__ import annotations

import pytest

from enough.data.synthetic.truth import Asked, Kind, Role, Truth
from enough.evaluation.outcomes import Outcome
from enough.evaluation.planted import planted

FIRST, SECOND = ("style", "x"), ("style", "y")
TRUTH = Truth(
    asked={
        "both": Asked(
            Kind.SEVERAL,
            (FIRST, SECOND),
            {
                "a": Role.USEFUL,
                "a2": Role.REDUNDANT,
                "b": Role.USEFUL,
                "old": Role.CONFLICTING,
                "i": Role.IRRELEVANT,
            },
            {"a": (FIRST,), "a2": (FIRST,), "b": (SECOND,), "old": (), "i": ()},
        ),
        "none": Asked(Kind.UNSEEN, (FIRST,), {"n": Role.IRRELEVANT}, {"n": ()}),
    },
    habits={},
    items={},
)


def row(selector: str, request: str, *profile: str) -> Outcome:
    return Outcome("t", request, "u", selector, 0.4, 0.1, profile, 0, 0.0, 0.0, 0.0, None)


def test_by_hand() -> None:
    rows = [row("x", "both", "a2", "a", "old", "i"), row("x", "none")]
    (line,) = planted(rows, TRUTH)
    assert line.records == 4
    # The first one that shows a habit is the useful one, whichever the lot chose.
    assert (line.useful, line.redundant, line.irrelevant, line.conflicting) == (0.25,) * 4
    assert line.recall == pytest.approx(1 / 2), "one habit of two is shown"
    assert line.stops_when_none == 1
    assert line.takes_when_some == 1


def test_nobody_chooses_anything() -> None:
    one, other = planted([row("x", "both"), row("y", "none", "n")], TRUTH)
    assert (one.records, one.useful, one.recall, one.takes_when_some) == (0, 0, 0, 0)
    assert (other.irrelevant, other.stops_when_none) == (1, 0)
