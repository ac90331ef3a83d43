"""What a row says about calls, tokens and seconds, by a clock that goes by hand."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from enough.baselines.fixed import FixedConfig, FixedLength
from enough.baselines.oracles import RecordOracleConfig
from enough.baselines.tools import Tools
from enough.evaluation.cells import Cell, Meters, run_cell
from enough.evaluation.questions import Question
from enough.evaluation.rows import Row, Seconds
from enough.generators.answer_cache import RememberingGenerator
from enough.generators.metering import Meter, MeteredGenerator
from enough.protocols import Answered, Asked, OnBatch, OpenGenerator, ScoredSequence, Tokens
from enough.records import Example
from enough.tasks import LAMP_TASKS
from tests.baselines.stand_ins import ask, films, make_tools
from tests.evaluation.evaluate_fakes import Broken, Worded

CELL = Cell("mine", "LaMP-2", 3)
MOVIES = LAMP_TASKS["LaMP-2"]


class Clock:
    """Stands still unless somebody works."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(time, "perf_counter", found)
    return found


class Timed(Worded):
    """Every call takes so long."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        super().__init__()
        self._clock, self._seconds = clock, seconds

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        self._clock.work(self._seconds)
        return super().generate(prompts, max_new_tokens)

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        self._clock.work(self._seconds)
        return super().score(sequences, on_batch)


class Busy:
    """Searches for 2 s if it is told to, thinks for 0.5 s, asks the reranker once, answers."""

    def __init__(self, tools: Tools, clock: Clock, searches: bool = False) -> None:
        self._tools, self._clock, self._searches = tools, clock, searches

    def answer(self, asked: Asked) -> Answered:
        own = 2.0 if self._searches else None
        self._clock.work((own or 0.0) + 0.5)
        request = asked.request
        reranker = self._tools.reranker
        reranker.generate([reranker.tokenizer.encode("rank these")], 4)
        chosen = FixedLength(2).select(request, asked.pool, asked.budget)
        answered = self._tools.answer(request, chosen.records, chosen.reason)
        return replace(answered, own_retrieval=own)


def workplace(generator: OpenGenerator, reranker: OpenGenerator) -> tuple[Tools, Meters]:
    meters = Meters(Meter(), Meter(), Meter())
    tools = make_tools(
        MeteredGenerator(generator, meters.generator), MeteredGenerator(reranker, meters.reranker)
    )
    return tools, meters


def question(tools: Tools, *contexts: str, reference: str = "tag2") -> Question:
    asked = ask(tools, films(*contexts))
    return Question(Example(asked.request, reference), asked, asked.pool, 0.25)


def only(rows: list[Row]) -> Row:
    (row,) = rows
    return row


def test_calls_tokens_and_seconds(clock: Clock) -> None:
    tools, meters = workplace(Timed(clock, 3.0), Timed(clock, 7.0))
    one = question(tools, "amber", "birch", "cedar")
    row = only(run_cell(CELL, Busy(tools, clock), [one], meters))
    assert (row.method, row.task, row.seed) == ("mine", "LaMP-2", 3)
    assert (row.request_id, row.user, row.reference) == ("q1", "ann", "tag2")
    assert (row.answer, row.records, row.root_stop) == ("tag2", ("r1", "r2"), False)
    assert row.scores == {"accuracy": 0.0, "outside-labels": 1.0}  # no tag of this task
    assert (row.calls, row.rerank_calls) == (1, 1)
    first, second, _ = one.asked.budget.record_tokens
    empty = len(tools.prompter.prompt(one.asked.request).tokens)
    assert row.profile_tokens == first + second
    assert row.prompt_tokens == 3 + empty + first + second  # "rank", a blank, "these"
    # The shared search; thinking and reranking; the answer.
    assert row.seconds == Seconds(retrieval=0.25, selection=7.5, generation=3.0)
    assert row.reason == "2 records asked for"
    assert row.one_prompt
    assert (row.log_likelihood_gain, row.net) == (None, None)


def test_its_own_search_takes_the_place_of_the_shared_one(clock: Clock) -> None:
    tools, meters = workplace(Timed(clock, 3.0), Timed(clock, 7.0))
    method = Busy(tools, clock, searches=True)
    row = only(run_cell(CELL, method, [question(tools, "amber")], meters))
    assert row.seconds == Seconds(retrieval=2.0, selection=7.5, generation=3.0)
    assert row.seconds.total == 12.5


def test_a_remembered_answer_takes_what_it_once_took(clock: Clock, tmp_path: Path) -> None:
    rows = []
    for generator, reranker in ((Timed(clock, 3.0), Timed(clock, 7.0)), (Broken(), Broken())):
        tools, meters = workplace(
            RememberingGenerator(generator, tmp_path / "answers"),
            RememberingGenerator(reranker, tmp_path / "rankings"),
        )
        started = clock.now
        rows += run_cell(CELL, Busy(tools, clock), [question(tools, "amber", "birch")], meters)
        passed = clock.now - started
    assert passed == 0.5
    assert rows[1] == rows[0]
    assert rows[0].seconds == Seconds(retrieval=0.25, selection=7.5, generation=3.0)


def test_nothing_chosen_is_a_stop_at_the_root(clock: Clock) -> None:
    tools, meters = workplace(Timed(clock, 3.0), Worded())
    method = FixedConfig(0).build(tools)
    row = only(run_cell(CELL, method, [question(tools, "amber")], meters))
    assert (row.records, row.profile_tokens, row.root_stop, row.answer) == ((), 0, True, "")


def test_every_request_has_its_own_bill(clock: Clock) -> None:
    tools, meters = workplace(Timed(clock, 3.0), Timed(clock, 7.0))
    told: list[tuple[str, int, int]] = []

    def on_step(name: str, done: int, total: int, note: str = "") -> None:
        told.append((name, done, total))

    questions = [question(tools, "amber"), question(tools, "amber birch cedar")]
    rows = run_cell(CELL, Busy(tools, clock), questions, meters, on_step)
    assert [row.calls for row in rows] == [1, 1]
    assert rows[1].prompt_tokens - rows[0].prompt_tokens == 4  # two words, two blanks
    assert rows[0].seconds == rows[1].seconds
    assert told == [("mine, LaMP-2, seed 3", 1, 2), ("mine, LaMP-2, seed 3", 2, 2)]


def test_a_bound_is_handed_the_reference_and_pays_for_what_it_scores(clock: Clock) -> None:
    tools, meters = workplace(Timed(clock, 3.0), Worded())
    one = question(tools, "amber", "birch", reference="tag2")
    row = only(run_cell(CELL, RecordOracleConfig().build(tools), [one], meters))
    assert row.records == ("r2",)
    assert row.calls == 1 + 2 + 1  # the empty profile, both records, the answer
    assert row.seconds.generation == 9.0  # two rounds of scores and the answer


def test_labels_are_scored_one_call_each(clock: Clock) -> None:
    tools, meters = workplace(Timed(clock, 3.0), Worded())
    method = FixedConfig(1).build(replace(tools, decoding="labels"))
    row = only(run_cell(CELL, method, [question(tools, "a classic")], meters))
    assert row.answer == "classic"
    assert row.calls == len(MOVIES.labels)
