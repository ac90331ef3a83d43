from __future__ import annotations

import ast
import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enough.config import from_table
from enough.errors import ConfigError
from enough.matching import covariates as covariates_module
from enough.matching.covariates import NO_LIMIT, Covariates, Numbers, covariates, start_of
from enough.matching.differences import Differences
from enough.matching.matcher import Asked, Match, MatchConfig, Matcher, Outcome
from enough.moment import Moment, strictly_before
from enough.protocols import Floats
from tests.conftest import make_record
from tests.data.world import MOVIES, TWEETS
from tests.retrieval.tiny import BagEncoder

SOURCE = Path(covariates_module.__file__).parent
WIDE = MatchConfig(content=2, length=math.inf, relevance=2, time=math.inf)
NOBODY = 99


def random_table(n: int, seed: int = 0, content: float = 0.8, dim: int = 6) -> Covariates:
    rng = np.random.default_rng(seed)
    has_content = rng.random(n) < content
    vectors = rng.normal(size=(n, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    years = rng.integers(2000, 2006, n)
    return Covariates(
        owner=rng.integers(0, 7, n),
        vectors=(vectors * has_content[:, None]).astype(np.float32),
        has_content=has_content,
        log_length=np.where(has_content, rng.normal(5, 1, n), 0.0),
        time=np.where(rng.random(n) < 0.9, years + 0.5, math.nan),
        end=np.array([start_of((int(year) + 1,)) for year in years], np.int64),
        metadata=rng.integers(0, 2, (n, 2)),
        cosine_spread=0.4,
    )


def some_copies(n: int, seed: int = 0) -> Numbers:
    return np.random.default_rng(seed).integers(0, max(n - n // 5, 1), n)


def matcher(table: Covariates, config: MatchConfig, things: Numbers | None = None) -> Matcher:
    return Matcher(table, np.arange(len(table)) if things is None else things, config)


def asked(
    *records: int,
    table: Covariates,
    owner: int = NOBODY,
    start: int = NO_LIMIT,
    barred: tuple[int, ...] = (),
    salt: int = 1,
) -> Asked:
    query = np.zeros(table.vectors.shape[1], np.float32)
    query[:1] = 1
    return Asked(np.array(records), query, owner, start, np.array(barred, np.int64), salt)


def by_brute_force(
    table: Covariates, things: Numbers, config: MatchConfig, one: Asked, record: int
) -> list[float]:
    """Distances of the true controls; they are unique but for ties."""
    apart = Differences(table)
    numbers = np.arange(len(table))
    legal = (table.owner != one.owner) & (table.end <= one.start)
    legal[one.barred] = False
    in_time, in_metadata = apart.in_time(record, numbers), apart.in_metadata(record, numbers)
    close = legal & (table.has_content == table.has_content[record])
    close &= np.isfinite(in_time) & (in_time <= config.time) & (in_metadata <= config.metadata)
    total = in_time + in_metadata
    if table.has_content[record]:
        content, relevance = apart.in_content(record, one.query, numbers)
        length = apart.in_length(record, numbers)
        close &= (content <= config.content) & (relevance <= config.relevance)
        close &= length <= config.length
        total = total + (content + relevance) / table.cosine_spread + length
    chosen: dict[int, float] = {}
    for number in sorted(numbers[close], key=lambda n: total[n]):
        chosen.setdefault(int(things[number]), float(total[number]))
    nearest = list(chosen.values())[: config.controls]
    return nearest if len(nearest) == config.controls else []


def distances(
    table: Covariates, things: Numbers, one: Asked, record: int, match: Match
) -> list[float]:
    everything_else = np.setdiff1d(np.arange(len(table)), match.controls)
    only = replace(one, barred=everything_else, owner=NOBODY, start=NO_LIMIT)
    return by_brute_force(table, things, replace(WIDE, controls=len(match.controls)), only, record)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(8, 60),  # so few that all cells are looked at
    controls=st.integers(1, 4),
    content=st.sampled_from([0.4, 0.9, 2.0]),
    year=st.sampled_from([2003, 2010]),
)
def test_the_nearest_within_all_calipers_are_found(
    seed: int, n: int, controls: int, content: float, year: int
) -> None:
    table, things = random_table(n, seed), some_copies(n, seed)
    config = MatchConfig(controls, content, length=1.5, relevance=0.8, time=1.2, metadata=0.5)
    one = asked(*range(8), table=table, owner=3, start=start_of((year,)), barred=(0, 5))
    legal = (table.owner != 3) & (table.end <= one.start)
    legal[[0, 5]] = False
    for record, match in enumerate(matcher(table, config, things).match(one)):
        wanted = by_brute_force(table, things, config, one, record)
        if not wanted:
            none = Outcome.REJECTED if legal.sum() >= controls else Outcome.UNAVAILABLE
            assert match == Match(none)
        else:
            assert match.outcome is Outcome.MATCHED
            assert len({things[n] for n in match.controls}) == controls
            assert legal[list(match.controls)].all()
            found = distances(table, things, one, record, match)
            assert found == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("content", [0.02, 0.1, 0.3, 0.7])
def test_leaving_out_cells_beyond_reach_changes_no_match(content: float) -> None:
    n, dim = 3000, 16
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(60, dim))[rng.integers(60, size=n)] + rng.normal(size=(n, dim)) * 0.1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    table = replace(random_table(n, content=1), vectors=vectors.astype(np.float32))
    pruning = Unpruned(table, np.arange(n), MatchConfig(content=content))
    one = asked(*range(150), table=table, owner=3)
    found, looked_at = pruning.match(one), pruning.looked_at
    outcomes = {match.outcome for match in found}
    assert outcomes == {Outcome.MATCHED, Outcome.REJECTED}
    pruning.forget_radii()
    assert pruning.match(one) == found
    assert looked_at < pruning.looked_at - looked_at


class Unpruned(Matcher):
    """Counts what it looks at, and can be made to look into every cell."""

    looked_at = 0

    def forget_radii(self) -> None:
        self._cells = replace(self._cells, radii=np.full(len(self._cells.radii), math.pi))

    def _within(self, record: int, query: Floats, numbers: Numbers) -> Numbers:
        self.looked_at += len(numbers)
        return super()._within(record, query, numbers)


@pytest.mark.parametrize("bits", [-3, -1, 0, 1, 3])
def test_the_last_bits_of_a_vector_do_not_decide_who_is_accepted(bits: int) -> None:
    """All differ by exactly what the calipers allow, but for rounding."""
    table = random_table(30, content=1)
    vectors = np.zeros((30, 6), np.float32)
    vectors[:, 0], vectors[:, 1] = 0.6, 0.8
    vectors[0] = [1, 0, 0, 0, 0, 0]
    vectors[1:, 0] += np.float32(bits) * np.spacing(np.float32(0.6))
    years = np.full(30, 2000.0)
    years[0] += 0.1 + bits * 1e-12
    table = replace(table, vectors=vectors, time=years, log_length=np.ones(30))
    allowed = MatchConfig(content=0.4, relevance=0.4, time=0.1 / years.std())
    assert matcher(table, allowed).match(asked(0, table=table))[0].outcome is Outcome.MATCHED
    no_content = replace(table, has_content=np.zeros(30, np.bool_))
    assert matcher(no_content, allowed).match(asked(0, table=table))[0].outcome is Outcome.MATCHED


def test_a_request_gets_the_same_alone_and_among_others() -> None:
    table = random_table(300)
    together = matcher(table, WIDE).match(asked(*range(40), table=table))
    alone = [
        matcher(table, WIDE).match(asked(record, table=table))[0] for record in range(39, -1, -1)
    ]
    assert together == alone[::-1]


def test_equally_near_records_are_told_apart_by_number() -> None:
    sides = np.zeros((30, 6), np.float32)
    sides[:, 0] = 0.6
    sides[np.arange(30), 1 + np.arange(30) % 2] = 0.8  # in turn to two sides, so in two cells
    sides[9] = [1, 0, 0, 0, 0, 0]
    same = replace(
        random_table(30, content=1),
        vectors=sides,
        log_length=np.ones(30),
        time=np.full(30, math.nan),
        metadata=np.zeros((30, 0), np.int64),
    )
    match = matcher(same, WIDE).match(asked(9, table=same, barred=(0, 2, 9)))[0]
    assert match.controls == (1, 3, 4)


def test_without_content_and_time_chance_decides_the_same_way_every_time() -> None:
    table = random_table(3000, content=0)
    table = replace(table, time=np.full(3000, math.nan))
    first = matcher(table, WIDE).match(asked(1, 2, 3, table=table))
    assert first == matcher(table, WIDE).match(asked(1, 2, 3, table=table))
    other_request = matcher(table, WIDE).match(asked(1, 2, 3, table=table, salt=2))
    other_seed = matcher(table, replace(WIDE, seed=1)).match(asked(1, 2, 3, table=table))
    assert len({match.controls for match in [*first, *other_request, *other_seed]}) == 9


def test_records_with_and_without_a_time_or_content_never_meet() -> None:
    table = random_table(200)
    for record, match in enumerate(matcher(table, WIDE).match(asked(*range(200), table=table))):
        for control in match.controls:
            assert table.has_content[control] == table.has_content[record]
            assert np.isnan(table.time[control]) == np.isnan(table.time[record])


def test_copies_of_one_thing_are_one_control() -> None:
    table = replace(random_table(100, content=1), time=np.full(100, 2000.5))
    numbers = np.arange(100)
    things = np.where(numbers < 98, 0, numbers)
    match = matcher(table, WIDE, things).match(asked(0, table=table))[0]
    assert {things[n] for n in match.controls} == {0, 98, 99}
    two_things = matcher(table, WIDE, numbers % 2).match(asked(0, table=table))
    assert two_things == [Match(Outcome.REJECTED)]


moments = st.one_of(
    st.tuples(st.integers(1999, 2001)),
    st.tuples(st.integers(1999, 2001), st.sampled_from([1, 2, 11, 12])),
    st.tuples(st.integers(1999, 2001), st.sampled_from([1, 12]), st.sampled_from([1, 2, 31])),
    st.tuples(
        st.integers(1999, 2001),
        st.sampled_from([1, 12]),
        st.sampled_from([1, 31]),
        st.sampled_from([0, 23]),
        st.sampled_from([0, 59]),
        st.sampled_from([0, 59]),
        st.sampled_from([0, 999_999]),
    ),
)


@settings(max_examples=300, deadline=None)
@given(earlier=moments, later=moments)
def test_ends_and_starts_say_what_strictly_before_says(earlier: Moment, later: Moment) -> None:
    table = facts_of(earlier)
    assert (table.end[0] <= start_of(later)) == strictly_before(earlier, later)


def facts_of(*moments: Moment | None) -> Covariates:
    records = [make_record(i, moment=moment) for i, moment in enumerate(moments, 1)]
    return covariates(records, MOVIES, BagEncoder())


def test_time_is_the_middle_of_what_a_date_can_mean() -> None:
    table = facts_of((2012,), (2012, 7), (2012, 1, 1, 0, 0, 0, 0), None, (9999, 12, 31))
    assert table.time[:3] == pytest.approx([2012.5, 2012 + 6.5 / 12, 2012])
    assert np.isnan(table.time[3])
    assert table.end[3] <= start_of((1,))  # as far as both have a time
    assert (table.end <= start_of(None)).all()


def test_the_table_holds_what_was_known_before_the_action() -> None:
    records = [
        make_record(1, context="w1 w1 w2", metadata=(("shop", "a"), ("page", "1"))),
        make_record(2, context=" ", owner="bob", metadata=(("shop", "a"),)),
        make_record(3, context="{w3}", metadata=(("shop", "b"),)),
    ]
    table = covariates(records, MOVIES, BagEncoder())
    assert table.owner.tolist() == [0, 1, 0]
    assert table.has_content.tolist() == [True, False, True]
    assert np.linalg.norm(table.vectors, axis=1) == pytest.approx([1, 0, 1])
    assert table.log_length == pytest.approx([math.log(9), 0, math.log(5)])
    assert table.metadata.tolist() == [[0, 0], [-1, 0], [-1, 1]]  # page, shop


def test_a_task_without_contexts_needs_no_encoder() -> None:
    class Broken(BagEncoder):
        def encode(self, texts: object, kind: object) -> Floats:
            raise AssertionError("nothing to embed")

    table = covariates([make_record(1, context=""), make_record(2, context="")], TWEETS, Broken())
    assert table.vectors.shape == (2, 0)
    assert not table.has_content.any()


@pytest.mark.parametrize(
    "changes",
    [{"controls": 0}, {"content": -0.1}, {"length": math.nan}, {"time": -1.0}, {"seed": -1}],
)
def test_impossible_settings_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=f"matching.{next(iter(changes))}"):
        from_table(changes, MatchConfig, "file")


@pytest.mark.parametrize("module", ["matcher", "neighbours", "balance", "differences"])
def test_the_matcher_cannot_name_a_record(module: str) -> None:
    tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
    modules: set[str] = set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    assert not modules & {"enough", "enough.records", "enough.data", "enough.tasks"}
    assert not any(name.startswith("enough.data") for name in modules)
    assert not names & {"Record", "Example", "Request", "Dataset", "History", "Candidate", "Pool"}


@pytest.mark.parametrize("kind", [Covariates, Asked, Match])
def test_what_the_matcher_is_given_has_no_place_for_a_text(kind: type) -> None:
    for field in fields(kind):
        assert field.type in {
            "Numbers",
            "Values",
            "Floats",
            "Flags",
            "int",
            "float",
            "Outcome",
            "tuple[int, ...]",
        }
