"""How far replacements are from what they replace, by hand."""

from __future__ import annotations

import math

import pytest

from enough.diagnostics.personal.replacement_balance import Replaced, replacement_balance
from tests.conftest import make_record, make_request
from tests.retrieval.tiny import BagEncoder

OWN = (make_record(1, context="xxxx"), make_record(2, context="x" * 9))


def test_a_record_is_no_distance_from_itself_whatever_its_action() -> None:
    shuffled = (make_record(1, context="xxxx", action="comedy"), OWN[1])
    balance = replacement_balance([Replaced(make_request(), OWN, shuffled)], BagEncoder())
    assert balance.mean_smd == 0
    assert set(dict(balance.named).values()) == {0} and balance.pairs == 2


def test_lengths_and_times_by_hand() -> None:
    longer = tuple(
        make_record(day, owner="ben", context="y" * letters) for day, letters in ((1, 9), (2, 19))
    )
    balance = replacement_balance([Replaced(make_request(), OWN, longer)], BagEncoder())
    named = dict(balance.named)
    # log 5 and log 10 beside log 10 and log 20: means log 2 apart, each with a spread of log(2)/2.
    assert named["log length"] == pytest.approx(-math.log(2) / (math.log(2) / 2))
    assert named["time"] == 0
    assert balance.pairs == balance.matched == 2
