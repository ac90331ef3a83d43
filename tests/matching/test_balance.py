from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from enough.matching.balance import Balance, audit, smd, together
from enough.matching.covariates import NO_LIMIT, Covariates
from enough.matching.matcher import Asked, Match, Outcome

REJECTED, UNAVAILABLE = Match(Outcome.REJECTED), Match(Outcome.UNAVAILABLE)


def matched(*controls: int) -> Match:
    return Match(Outcome.MATCHED, controls)


def table(cosines: list[float], lengths: list[float], years: list[float]) -> Covariates:
    """Records in the plane; the query of `asked` is the first axis."""
    n = len(cosines)
    return Covariates(
        owner=np.arange(n),
        vectors=np.array([(c, math.sqrt(1 - c * c)) for c in cosines], np.float32),
        has_content=np.ones(n, np.bool_),
        log_length=np.array(lengths),
        time=np.array(years),
        end=np.zeros(n, np.int64),
        metadata=np.zeros((n, 0), np.int64),
        cosine_spread=1.0,
    )


def asked(*records: int, query: tuple[float, ...] = (1.0, 0.0)) -> Asked:
    nothing = np.zeros(0, np.int64)
    return Asked(np.array(records), np.array(query, np.float32), 0, NO_LIMIT, nothing, 0)


def test_a_standardised_mean_difference_by_hand() -> None:
    # means 3 and 2; variances 2/3 and 1; pooled sqrt(5/6)
    own, controls = np.array([2.0, 3, 4]), np.array([1.0, 3, 1, 3])
    assert smd(own, controls) == pytest.approx(1 / math.sqrt((2 / 3 + 1) / 2))


def test_what_does_not_vary_or_exist_has_no_difference() -> None:
    nan = np.array([math.nan])
    assert smd(np.ones(3), np.ones(6)) is None
    assert smd(np.full(7, 2012.1), np.full(21, 2012.1)) is None  # their means differ by a last bit
    assert smd(nan, nan) is None
    assert smd(np.ones(2), np.full(4, 2.0)) == -math.inf
    assert smd(np.array([1.0, math.nan, 3]), np.array([1.0, 3])) == 0


def test_shares_by_hand() -> None:
    facts = table([0.5] * 8, [1.0] * 8, [2000.0] * 8)
    matches = [[matched(4, 5), REJECTED], [UNAVAILABLE, matched(6, 7), matched(4, 7)]]
    balance = audit(facts, [asked(0, 1), asked(2, 3, 0)], matches)
    assert (balance.pairs, balance.coverage, balance.reject, balance.missing) == (5, 0.6, 0.2, 0.2)
    assert balance.exact is None  # all records are in one stratum: there is nothing to agree in
    assert balance.mean_smd is None
    assert balance.p90_smd is None


def test_differences_of_all_covariates_by_hand() -> None:
    # own: lengths 1 and 3, controls 1, 2, 3, 4; a year later; the same directions
    facts = table([0.6] * 6, [1, 3, 1, 2, 3, 4], [2001, 2003, 2000, 2002, 2000, 2002])
    balance = audit(facts, [asked(0, 1)], [[matched(2, 3), matched(4, 5)]])
    named = dict(balance.named)
    assert named["log length"] == pytest.approx((2 - 2.5) / math.sqrt((1 + 1.25) / 2))
    assert named["time"] == pytest.approx(1 / math.sqrt((1 + 1) / 2))
    assert set(named) == {"log length", "time"}  # relevance and content are the same everywhere
    sizes = [abs(value) for value in named.values()]
    assert balance.mean_smd == pytest.approx(sum(sizes) / 2)
    assert balance.p90_smd == pytest.approx(np.percentile(sizes, 90))


def test_content_and_relevance_by_hand() -> None:
    facts = table([1.0, 0.6, 0.8, 0.0], [1.0] * 4, [math.nan] * 4)
    balance = audit(facts, [asked(0, 1)], [[matched(2), matched(3)]])
    # first axis: 1, .6 against .8, 0; second: 0, .8 against .6, 1
    first = (0.8 - 0.4) / math.sqrt((0.04 + 0.16) / 2)
    second = (0.4 - 0.8) / math.sqrt((0.16 + 0.04) / 2)
    assert balance.content == pytest.approx((first, second), rel=1e-5)
    assert dict(balance.named) == {"relevance": pytest.approx(first, rel=1e-5)}


def test_relevance_is_that_to_the_own_request() -> None:
    facts = table([1.0, 0.0, 1.0, 0.0], [1.0] * 4, [math.nan] * 4)
    turned = [asked(0), asked(1, query=(0.0, 1.0))]
    balance = audit(facts, turned, [[matched(3)], [matched(2)]])
    assert dict(balance.named) == {"relevance": math.inf}  # own 1 and 1, controls 0 and 0


def test_exact_needs_all_strata() -> None:
    years = [2000.0, 2010, 2020, 2030, 2040]
    lengths = [1.0, 2, 3, 4, 5]
    same, older, longer = (1.0, 2000.0), (1.0, 1990.0), (2.0, 2000.0)
    extra = [same, older, longer]
    facts = table(
        [0.5] * 8,
        lengths + [length for length, _ in extra],
        years + [year for _, year in extra],
    )
    matches = [[matched(5, 6, 7), REJECTED, REJECTED, REJECTED, REJECTED]]
    balance = audit(facts, [asked(0, 1, 2, 3, 4)], matches)
    # the lowest fifth has no lower end, so an older record is in it; a longer one is not
    assert (balance.compared, balance.agreeing) == (3, 2)
    with_metadata = replace(facts, metadata=np.array([[0]] * 5 + [[1], [0], [0]]))
    assert audit(with_metadata, [asked(0, 1, 2, 3, 4)], matches).agreeing == 1


def test_records_without_content_have_neither_length_nor_relevance() -> None:
    facts = replace(
        table([0.0] * 4, [0.0] * 4, [2000.0, 2001, 2000, 2001]),
        has_content=np.zeros(4, np.bool_),
        vectors=np.zeros((4, 0), np.float32),
    )
    balance = audit(facts, [asked(0, 1, query=())], [[matched(2), matched(3)]])
    assert balance.named == (("time", 0.0),)
    assert balance.content == ()
    assert balance.exact == 1


def test_nothing_asked_is_no_error() -> None:
    balance = audit(table([0.5], [1.0], [2000.0]), [], [])
    assert balance == Balance(0, 0, 0, 0)
    assert balance.coverage is None


def test_nothing_matched_is_no_error() -> None:
    balance = audit(table([0.5] * 2, [1.0, 2.0], [2000.0, 2001]), [asked(0, 1)], [[REJECTED] * 2])
    assert (balance.coverage, balance.exact, balance.mean_smd) == (0, None, None)


def test_tasks_together() -> None:
    one = Balance(10, 8, 1, 1, 24, 12, (("time", 0.1),), (0.2, -0.3))
    two = Balance(30, 10, 20, 0, 0, 0)
    both = together([one, two])
    assert (both.pairs, both.coverage, both.reject, both.exact) == (40, 0.45, 0.525, 0.5)
    assert both.mean_smd == pytest.approx(0.2)
