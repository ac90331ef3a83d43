"""The ladder of pools: each is the one before and one record more, and what that record is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from enough.diagnostics.stress.candidate_ladder import (
    INJECTED,
    STEPS,
    build_ladder,
    conflicting_action,
    least_similar,
    near_duplicate,
    ranked_pool,
    reworded,
    split_by_worth,
)
from enough.records import Record
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.vectors import unit_rows
from enough.tasks import LAMP_TASKS
from tests.conftest import make_record, make_request
from tests.retrieval.tiny import BagEncoder

BASE = [make_record(n) for n in (1, 2)]
USEFUL = make_record(
    3, context="The keeper hides the letter under a stone by the sea.", source_id="s3"
)
STRANGER = make_record(
    4,
    owner="ben",
    context="Robots race cars on Mars.",
    action="sci-fi",
    metadata=(("site", "b"),),
    source_id="s4",
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_records_are_told_apart_by_what_they_are_worth_alone() -> None:
    assert split_by_worth([0.0, 0.3, -1.0, 0.5, -0.1], base=2) == ((0, 2), 3)
    assert split_by_worth([0.5, 0.5], base=2) == ((), 0)  # the better ranked of equals
    assert split_by_worth([0.0, -1.0], base=1) == ((0,), None)
    assert split_by_worth([], base=1) == ((), None)


def test_every_pool_is_the_one_before_and_one_record_more() -> None:
    rungs = build_ladder(BASE, USEFUL, STRANGER, "comedy").rungs
    assert len(rungs) == len(STEPS) == len(INJECTED) + 1
    assert rungs[0] == tuple(BASE)
    for before, after in pairwise(rungs):
        assert after[:-1] == before
        assert after[-1].id not in {record.id for record in before}


def test_every_added_record_is_what_its_step_says() -> None:
    ladder = build_ladder(BASE, USEFUL, STRANGER, "comedy")
    useful, duplicate, irrelevant, conflict = ladder.added
    assert useful is USEFUL
    assert duplicate.action == useful.action and duplicate.context != useful.context
    assert (irrelevant.context, irrelevant.action) == (STRANGER.context, STRANGER.action)
    assert irrelevant.metadata == STRANGER.metadata
    assert conflict.context == useful.context and conflict.action == "comedy"
    for new in (duplicate, irrelevant, conflict):
        assert (new.owner, new.date, new.moment) == (useful.owner, useful.date, useful.moment)
        assert new.source_id is None
    assert ladder == build_ladder(BASE, USEFUL, STRANGER, "comedy")


def test_which_kinds_a_profile_holds() -> None:
    ladder = build_ladder(BASE, USEFUL, STRANGER, "comedy")
    assert ladder.kinds([BASE[0]]) == ()
    assert ladder.kinds([ladder.added[3], BASE[0], USEFUL]) == ("useful", "conflict")


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Robots see the big sea", "Robots see big sea"),
        ("Robots race cars daily", "Robots race cars daily daily"),
        ("see the sea", "see the sea sea"),
        ("great", "great."),
        ("great.", "great"),
    ],
)
def test_one_word_is_changed(text: str, changed: str) -> None:
    assert reworded(text) == changed


@pytest.mark.parametrize("context", [USEFUL.context, STRANGER.context, "so far so good it is"])
def test_a_near_duplicate_lies_close_but_is_not_the_same(context: str) -> None:
    record = make_record(3, context=context)
    again = near_duplicate(record)
    assert again.context != record.context and again.id != record.id
    one, other = unit_rows(BagEncoder().encode([record.context, again.context], "document"))
    assert one @ other >= 0.85  # five words that lose one have √(4/5) = 0.89


def test_without_a_context_the_action_is_reworded() -> None:
    tweet = make_record(1, context="", action="omg so late for the bus again")
    assert near_duplicate(tweet).action == "omg late for the bus again"
    assert near_duplicate(tweet).context == ""


def test_a_conflict_is_another_label_but_not_the_answer() -> None:
    task = LAMP_TASKS["LaMP-3"]
    rated = make_record(1, action="5")
    found = {conflicting_action(task, rated, "4", [], rng(seed)) for seed in range(60)}
    assert found == {"1", "2", "3"}


def test_a_conflict_in_free_text_is_what_somebody_else_did() -> None:
    task = LAMP_TASKS["LaMP-4"]
    own = make_record(1, action="Sea Rises")
    others = [
        make_record(n, owner="ben", action=action)
        for n, action in enumerate(("sea  rises", "The Answer", "Tax Falls"), start=1)
    ]
    assert conflicting_action(task, own, "the answer", others, rng()) == "Tax Falls"
    assert conflicting_action(task, own, "the answer", others[:2], rng()) == "The Answer"
    assert conflicting_action(task, own, "the answer", others[:1], rng()) is None


def test_pools_are_ranked_as_the_retriever_ranks() -> None:
    request = make_request(input="tags: [x] description: sea stone letter")
    retriever = DenseRetriever(BagEncoder())
    records: list[Record] = [STRANGER, make_record(1, context="stone"), USEFUL]
    pool = ranked_pool(request, records, retriever)
    assert {c.record.id for c in pool} == {r.id for r in records}
    assert pool == retriever.retrieve(request, tuple(records), 3)
    assert ranked_pool(request, [], retriever) == ()
    assert least_similar(request, records, retriever) == pool[-1].record
    assert least_similar(request, [], retriever) is None
