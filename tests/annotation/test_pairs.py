"""Pairs: who is drawn, on which side, and what of the past may be shown."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import replace

import pytest

from enough.annotation.histories import visible_histories
from enough.annotation.pairs import Counted, Pair, PairConfig, draw_pairs
from enough.data.leakage import LeakageControls
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.evaluation.rows import Row
from enough.records import Dataset, Example, Record, Request
from enough.tasks import LAMP_TASKS
from tests.annotation import made_up
from tests.annotation.made_up import CONTROLS, OURS, THEIRS, drawn


def test_answers_stand_on_the_side_the_key_says() -> None:
    found = drawn()
    assert len(found.pairs) == 11, "six requests of two tasks, one answered alike"
    for pair in found.pairs:
        left, right = ("Alpha", "Beta") if found.method_is_left[pair.id] else ("Beta", "Alpha")
        assert pair.left == f"{left} answer to {pair.request_id}"
        assert pair.right == f"{right} answer to {pair.request_id}"
    assert [pair.id for pair in found.pairs] == [f"pair-{n}" for n in range(1, 12)]


def test_a_pair_names_neither_method_nor_reference() -> None:
    names = {field.name for field in dataclasses.fields(Pair)}
    assert not {"reference", "method", "against"} & names
    for pair in drawn().pairs:
        text = repr(pair)
        assert OURS not in text and THEIRS not in text and "Secretreference" not in text


def test_answers_that_read_alike_are_left_out_and_counted() -> None:
    found = drawn()
    assert found.counts == {"LaMP-4": Counted(6, 1, 5), "LaMP-7": Counted(6, 0, 6)}
    assert "news-0" not in {pair.request_id for pair in found.pairs}


def test_at_most_so_many_per_task() -> None:
    found = drawn(pairs=2)
    assert Counter(pair.task.name for pair in found.pairs) == {"LaMP-4": 2, "LaMP-7": 2}
    assert found.counts["LaMP-7"] == Counted(6, 0, 2)
    assert {pair.task.name for pair in drawn(tasks=("LaMP-7",)).pairs} == {"LaMP-7"}


def test_the_same_seed_draws_the_same() -> None:
    assert drawn(seed=3) == drawn(seed=3)
    orders = {tuple(pair.request_id for pair in drawn(seed=s).pairs) for s in range(5)}
    assert len(orders) == 5
    one_task = drawn(pairs=3, tasks=("LaMP-7",))
    mixed = drawn(pairs=3)
    of_mixed = {p.request_id: mixed.method_is_left[p.id] for p in mixed.pairs if "tweet" in p.input}
    alone = {p.request_id: one_task.method_is_left[p.id] for p in one_task.pairs}
    assert alone == of_mixed, "another task changes nothing"


def test_the_coin_is_fair_and_tosses_for_each_pair() -> None:
    left = [list(drawn(seed=seed).method_is_left.values()) for seed in range(40)]
    assert 0.42 < sum(map(sum, left)) / (40 * 11) < 0.58, "more than three deviations"
    assert sum(len(set(tosses)) == 2 for tosses in left) >= 39, "not one toss for a whole page"


def test_history_is_shown_newest_first_and_counted() -> None:
    pairs = {pair.request_id: pair for pair in drawn(history=2).pairs}
    shown = pairs["news-1"]
    assert [record.id for record in shown.history] == ["r1-9", "r1-5"]
    assert shown.history_length == 3
    assert [record.id for record in pairs["tweet-2"].history] == ["t2"]
    assert drawn(history=0).pairs[0].history == ()


def test_only_legal_records_are_shown() -> None:
    sets = made_up.datasets()
    late = replace(made_up.past(1, 2, "Too late"), id="late", date="2020-07-01", moment=(2020, 7))
    target = replace(made_up.past(1, 3, made_up.reference("LaMP-4", 1)), id="target")
    histories = {**sets[0].histories, "u1": (*sets[0].histories["u1"], late, target)}
    sets[0] = replace(sets[0], histories=histories)
    found = draw_pairs(made_up.rows(), sets, CONTROLS, made_up.config())
    pair = next(pair for pair in found.pairs if pair.request_id == "news-1")
    assert [record.id for record in pair.history] == ["r1-9", "r1-5", "r1-1"]
    assert pair.history_length == 3


def test_no_history_gives_away_the_answer_to_another_request() -> None:
    """The record of May's request is legal in June, but both are on the page."""
    task = LAMP_TASKS["LaMP-4"]

    def asked(month: int) -> Example:
        request = Request(
            f"q{month}",
            "ann",
            task,
            f"Generate a headline for the following article: Story of month {month}.",
            moment=(2020, month, 1),
            source_id=f"r{month}",
        )
        return Example(request, f"What month {month} brought to all of us")

    records = tuple(
        Record(
            f"r{month}",
            "ann",
            f"Story of month {month}.",
            f"What month {month} brought to all of us",
            moment=(2020, month, 2),
        )
        for month in (4, 5, 6)
    )
    copy = Record("copy", "ann", "Another text", "What month 5, brought TO ALL of us!")
    harmless = Record("harmless", "ann", "A third text", "Cats are up to something")
    late = tuple(replace(one, moment=(2020, 5, 20)) for one in (harmless, copy))
    dataset = Dataset(task, {"ann": (*records, *late)}, {"dev": (asked(5), asked(6))})
    both = visible_histories(dataset, [asked(5), asked(6)], LeakageControls())
    shown = [[record.id for record in history] for history in both]
    assert shown == [["r4"], ["harmless", "r4"]], "being later than May gives nothing away"
    (alone,) = visible_histories(dataset, [asked(6)], LeakageControls())
    assert [record.id for record in alone] == ["copy", "harmless", "r5", "r4"], "May is not judged"


def runs(method: str, seed: int) -> list[Row]:
    own = [row for row in made_up.rows() if row.method == method]
    return [replace(row, seed=seed, answer=f"{row.answer}, run {seed}") for row in own]


def test_one_run_is_compared() -> None:
    several = [*runs(OURS, 0), *runs(OURS, 1), *runs(THEIRS, 0)]
    found = draw_pairs(several, made_up.datasets(), CONTROLS, made_up.config(run=1))
    for pair in found.pairs:
        endings = {pair.left[-5:], pair.right[-5:]}
        assert endings == {"run 1", "run 0"}, "what draws nothing has one run"
    with pytest.raises(ConfigError, match="zorblax has no run with the seed 7; it has: 0, 1"):
        draw_pairs(several, made_up.datasets(), CONTROLS, made_up.config(run=7))


def test_what_cannot_be_compared_is_refused() -> None:
    sets, rows = made_up.datasets(), made_up.rows()
    with pytest.raises(UnknownNameError, match="unknown method in the rows 'nobody'"):
        draw_pairs(rows, sets, CONTROLS, made_up.config(against="nobody"))
    with pytest.raises(UnknownNameError, match="unknown task in the rows 'LaMP-2'"):
        draw_pairs(rows, sets, CONTROLS, made_up.config(tasks=("LaMP-2",)))
    with pytest.raises(DataError, match="LaMP-7: there is no data set of it"):
        draw_pairs(rows, sets[:1], CONTROLS, made_up.config())
    with pytest.raises(DataError, match=r"LaMP-7: 1 requests .* the first is 'tweet-5'"):
        draw_pairs(rows[:-1], sets, CONTROLS, made_up.config())
    with pytest.raises(DataError, match="LaMP-4: the data have no request 'news-5'"):
        draw_pairs(rows, made_up.datasets(users=5), CONTROLS, made_up.config())
    alike = [replace(row, answer="yes") for row in rows]
    with pytest.raises(DataError, match="answered everything alike"):
        draw_pairs(alike, sets, CONTROLS, made_up.config())


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="two methods, not both 'a'"):
        PairConfig("a", "a")
    with pytest.raises(ConfigError, match="pairs must be at least 1"):
        made_up.config(pairs=0)
    with pytest.raises(ConfigError, match="history must be at least 0"):
        made_up.config(history=-1)
