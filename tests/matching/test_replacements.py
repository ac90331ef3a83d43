from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enough.data.folders import read_folder
from enough.data.leakage import LeakageControls
from enough.data.splits import draw_examples
from enough.errors import DataError
from enough.matching.balance import Balance, audit
from enough.matching.covariates import Covariates
from enough.matching.matcher import Asked, Match, MatchConfig
from enough.matching.replacements import PoolMatcher, Replacements, match_pools
from enough.moment import strictly_before
from enough.records import Candidate, Dataset, Example, Record
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.pools import PooledExample, pooled
from tests.data.world import MOVIES, TWEETS, movie_input, record, request, tweet_input
from tests.retrieval.tiny import WORDS, BagEncoder

ANY = MatchConfig(controls=2, content=2, length=99, relevance=2, time=99)
TARGET = "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12"


def text(number: int, words: int = 12) -> str:
    """Words by chance; no two numbers have the same."""
    return " ".join(np.random.default_rng(number).choice(WORDS, words)) + f" n{number}"


def movies(*extra: Record, date: str = "2020", tag: str = "comedy") -> Dataset:
    """Ann asks; bob and cid have three records each."""
    own = [record("a1", text(1), tag, "2010"), record("target", TARGET, "classic", date)]
    others = [
        record(f"{who[0]}{i}", text(10 * k + i), tag, "2011", owner=who)
        for k, who in enumerate(["bob", "cid"], 1)
        for i in range(3)
    ]
    histories: dict[str, tuple[Record, ...]] = {}
    for one in [*own, *others, *extra]:
        histories[one.owner] = (*histories.get(one.owner, ()), one)
    asked = replace(request(MOVIES, movie_input(TARGET), date, "target"), id="q1")
    return Dataset(MOVIES, histories, {"train": (Example(asked, "classic"),)})


def matched(dataset: Dataset, config: MatchConfig = ANY, split: str = "train") -> Replacements:
    encoder = BagEncoder()
    controls = LeakageControls(encoder)
    pools = list(pooled(dataset, dataset.splits[split], controls, DenseRetriever(encoder), 20))
    return match_pools(dataset, pools, controls, encoder, config)


def ids(found: Replacements, example: int = 0, place: int = 0) -> set[str]:
    return {one.id for one in found.records[example][place]}


def all_legal(dataset: Dataset) -> set[str]:
    """Everybody whom ann's first record could be given: ask for more and more."""
    for count in range(20, 0, -1):
        found = matched(dataset, replace(ANY, controls=count))
        if found.records[0][0]:
            return ids(found)
    return set()


OTHERS = {"b0", "b1", "b2", "c0", "c1", "c2"}


def test_controls_are_other_users_records() -> None:
    assert all_legal(movies()) == OTHERS
    found = matched(movies())
    assert len(found.records[0]) == 1
    assert len(found.records[0][0]) == 2
    assert found.balance.coverage == 1


def test_the_nearest_context_comes_first() -> None:
    near = record("near", text(1) + " w9", date="2011", owner="dan")
    assert matched(movies(near)).records[0][0][0].id == "near"


@pytest.mark.parametrize(
    "illegal",
    [
        record("x", text(50), date="2020", owner="dan"),  # not strictly earlier
        record("x", text(50), date="2020-03", owner="dan"),
        record("target", text(50), date="2011", owner="dan"),  # about the source item
        record("x", text(50), date="2011", owner="dan", source_id="target"),
        record("a1", text(1), date="2010", owner="dan"),  # ann has it, too
        record("x", TARGET, date="2011", owner="dan"),  # the target's own text
        record("x", f"{TARGET.upper()}!", date="2011", owner="dan"),
        record("x", f"{TARGET} w13", date="2011", owner="dan"),  # nearly so
    ],
    ids=["same year", "may be later", "id", "source", "co-author", "same", "folded", "near"],
)
def test_illegal_records_are_no_controls(illegal: Record) -> None:
    assert all_legal(movies(illegal)) == OTHERS


def test_legal_relatives_of_the_illegal_ones_are() -> None:
    undated = replace(record("x", text(50), owner="dan"), date=None)
    found = match_all_without_time(movies(undated))
    assert "x" in found
    own_numbering = record("a1", text(51), date="2010", owner="dan")
    assert all_legal(movies(own_numbering)) == {*OTHERS, "a1"}


def match_all_without_time(dataset: Dataset) -> set[str]:
    bare = {
        who: tuple(replace(one, date=None, moment=None) for one in history)
        for who, history in dataset.histories.items()
    }
    return all_legal(replace(dataset, histories=bare))


def test_targets_of_other_splits_are_kept_out_of_this_one() -> None:
    dataset = movies(record("b0", text(10), date="2011", owner="dan"))  # a co-author of b0
    asked = request(MOVIES, movie_input(text(70)), "2019", "b0", user="bob")
    dev = (Example(replace(asked, id="q2"), "classic"),)
    with_dev = replace(dataset, splits=dataset.splits | {"dev": dev})
    assert all_legal(dataset) == OTHERS
    assert all_legal(with_dev) == OTHERS - {"b0"}
    same_split = replace(dataset, splits={"train": (*dataset.splits["train"], *dev)})
    assert all_legal(same_split) == OTHERS


def test_a_removed_control_is_replaced_by_the_next_best() -> None:
    copies = [record(f"x{i}", f"{TARGET} w{20 + i}", date="2011", owner="dan") for i in range(5)]
    dataset = movies(record("a2", f"{TARGET[:20]} {text(3)}", "comedy", "2011"), *copies)
    found = matched(dataset)
    assert found.balance.coverage == 1
    assert not any(one.id.startswith("x") for each in found.records[0] for one in each)


def test_too_few_or_too_far_gives_none_and_is_counted() -> None:
    nobody = replace(movies(), histories={"ann": movies().histories["ann"]})
    found = matched(nobody)
    assert (found.records, found.balance.missing) == ((((),),), 1)
    found = matched(movies(), MatchConfig(controls=2, content=0.01))
    assert (found.records, found.balance.reject) == ((((),),), 1)


def test_ids_that_several_users_count_anew_do_not_confuse_the_leakage_controls() -> None:
    same_ids = [record("7", text(80 + i), date="2011", owner=f"u{i}") for i in range(5)]
    copy = record("7", TARGET, date="2011", owner="eve")
    like_the_target = record("a2", f"{TARGET[:20]} {text(3, words=4)}", "comedy", "2011")
    found = matched(movies(like_the_target, *same_ids, copy), replace(ANY, controls=11))
    for chosen in found.records[0]:
        assert {one.owner for one in chosen} == {"bob", "cid", *(f"u{i}" for i in range(5))}


def test_tweets_have_neither_context_nor_date() -> None:
    histories = {
        f"u{k}": tuple(record(f"{k}-{i}", "", text(100 * k + i), owner=f"u{k}") for i in range(5))
        for k in range(30)
    }
    asked = request(TWEETS, tweet_input(text(9999)), user="u3")
    copied = replace(histories["u4"][0], action=text(5000))
    dataset = Dataset(
        TWEETS,
        histories | {"u4": (copied,)},
        {"train": (Example(asked, text(5000)),)},
    )
    found = matched(dataset, MatchConfig())
    assert found.balance.coverage == 1
    assert found.balance.mean_smd is found.balance.exact is None
    chosen = [one for each in found.records[0] for one in each]
    assert not any(one.owner == "u3" or one == copied for one in chosen)
    assert len({one.id for one in chosen}) > 9  # not everybody is given the same three


def world(actions: Sequence[str], references: Sequence[str]) -> tuple[Dataset, list[PooledExample]]:
    """Eight users; pools are fixed, since a retriever may look at actions."""
    rng = np.random.default_rng(3)
    histories = {}
    for k in range(8):
        years = np.sort(rng.integers(2000, 2015, 12))
        histories[f"u{k}"] = tuple(
            record(f"{k}.{i}", text(100 * k + i), actions[12 * k + i], str(year), owner=f"u{k}")
            for i, year in enumerate(years)
        )
    examples = tuple(
        Example(
            replace(request(MOVIES, movie_input(text(5000 + k)), "2016", user=f"u{k}"), id=f"q{k}"),
            references[k],
        )
        for k in range(8)
    )
    pools = [
        PooledExample(one, tuple(Candidate(r, 0.0) for r in histories[one.request.user][:6]))
        for one in examples
    ]
    return Dataset(MOVIES, histories, {"train": examples}), pools


def places(found: Replacements) -> list[list[list[str]]]:
    return [[[one.id for one in each] for each in some] for some in found.records]


def match_world(actions: Sequence[str], references: Sequence[str]) -> Replacements:
    dataset, pools = world(actions, references)
    encoder = BagEncoder()
    config = MatchConfig(content=1, length=2, relevance=0.3, time=1.5)
    return match_pools(dataset, pools, LeakageControls(encoder), encoder, config)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_actions_and_references_do_not_change_the_matches(data: st.DataObject) -> None:
    labels = st.sampled_from([*MOVIES.labels, "x", "7"])
    actions = data.draw(st.lists(labels, min_size=96, max_size=96))
    references = data.draw(st.lists(labels, min_size=8, max_size=8))
    usual = match_world(["comedy"] * 96, ["classic"] * 8)
    assert 0.3 < (usual.balance.coverage or 0) < 1
    assert places(match_world(actions, references)) == places(usual)


def test_nor_where_actions_are_all_there_is() -> None:
    def chosen(shift: int) -> list[list[list[str]]]:
        histories = {
            f"u{k}": tuple(
                record(f"{k}.{i}", "", text(100 * k + i + shift), str(2000 + i), owner=f"u{k}")
                for i in range(8)
            )
            for k in range(8)
        }
        asked = request(TWEETS, tweet_input(text(9000 + shift)), "2016", user="u2")
        example = Example(asked, text(9500 + shift))
        pool = tuple(Candidate(one, 0.0) for one in histories["u2"])
        dataset = Dataset(TWEETS, histories, {"train": (example,)})
        encoder = BagEncoder()
        controls = LeakageControls(encoder)
        found = match_pools(
            dataset, [PooledExample(example, pool)], controls, encoder, MatchConfig()
        )
        assert found.balance.coverage == 1
        return places(found)

    assert chosen(0) == chosen(10_000)


def test_requests_get_the_same_in_any_company_and_order() -> None:
    dataset, pools = world(["comedy"] * 96, ["classic"] * 8)
    encoder = BagEncoder()
    matcher = PoolMatcher(dataset, LeakageControls(encoder), encoder, ANY)
    together = places(matcher.match(pools))
    assert places(matcher.match(pools[::-1])) == together[::-1]
    assert [places(matcher.match([one]))[0] for one in pools] == together


def test_what_was_barred_is_not_kept_for_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Asked] = []

    def spied(table: Covariates, asked: Sequence[Asked], matches: list[list[Match]]) -> Balance:
        kept.extend(asked)
        return audit(table, asked, matches)

    monkeypatch.setattr("enough.matching.replacements.audit", spied)
    match_world(["comedy"] * 96, ["classic"] * 8)
    assert [(len(one.records), len(one.barred)) for one in kept] == [(6, 0)] * 8


def test_a_pool_of_another_dataset_is_an_error() -> None:
    dataset, pools = world(["comedy"] * 96, ["classic"] * 8)
    stranger = replace(pools[0], pool=(Candidate(record("?", "a", owner="zoe"), 0.0),))
    with pytest.raises(DataError, match="zoe"):
        match_pools(dataset, [stranger], LeakageControls(), BagEncoder(), ANY)


def test_progress_is_told() -> None:
    dataset, pools = world(["comedy"] * 96, ["classic"] * 8)
    told: list[tuple[str, int, int]] = []
    match_pools(
        dataset,
        pools,
        LeakageControls(),
        BagEncoder(),
        ANY,
        progress=lambda *step: told.append(step),
    )
    assert ("embedding", 96, 96) in told
    assert told[-1] == ("matching", 8, 8)


@pytest.mark.parametrize("folder", ["LaMP_1", "LaMP_2", "LaMP_7"])
def test_real_matches_are_legal(real_data: Path, folder: str) -> None:
    dataset = read_folder(real_data / folder)
    encoder = BagEncoder()
    controls = LeakageControls(encoder)
    examples = draw_examples(dataset, "train", 25, seed=0)
    pools = list(pooled(dataset, examples, controls, DenseRetriever(encoder), 20))
    found = match_pools(dataset, pools, controls, encoder, MatchConfig())
    dev = {(one.request.user, one.request.source_id) for one in dataset.splits["dev"]}
    assert (found.balance.coverage or 0) > 0.3
    for pool, some in zip(pools, found.records, strict=True):
        asked = pool.example.request
        own = {one.id for one in dataset.histories[asked.user]}
        assert len(some) == len(pool.pool)
        for chosen in some:
            assert len(chosen) in (0, 3)
            for one in chosen:
                assert one.owner != asked.user
                assert one.id not in own
                assert (one.owner, one.id) not in dev
                if one.moment is not None and asked.moment is not None:
                    assert strictly_before(one.moment, asked.moment)
            assert controls.legal(asked, chosen, pool.example.reference).records == chosen
