"""One suite for every method of the registry: what `protocols.Method` promises.

A new line in `METHODS` is in it at once: it is built from its defaults, and trained first if it
learns.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enough.baselines.controlled import EnoughConfig
from enough.baselines.fitting import FittingConfig
from enough.baselines.fixed import FixedLength
from enough.baselines.one_call import OneCall
from enough.baselines.registry import METHODS, Entry, method_config
from enough.baselines.tools import Tools, TrainableConfig
from enough.generators.metering import Meter, MeteredGenerator
from enough.progress import silent
from enough.prompts.template import parse_prompt
from enough.protocols import Answered, Asked, Method
from enough.records import Example, Pool, Record
from enough.tasks import LAMP_TASKS
from tests.baselines.lessons import material
from tests.baselines.stand_ins import make_tools, pool_of
from tests.conftest import make_record, make_request
from tests.evaluation.evaluate_fakes import Worded
from tests.online.stand_ins import saved_controller

TWEETS = LAMP_TASKS["LaMP-7"]
K_MAX = 6
WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
WITHOUT_HORIZON = {"full"}  # its whole point

# Calls of (generator, reranker) on one request with a pool of 20 and k = 5, and the paper's count.
CALLS = {
    "bm25": (1, 0, 1),
    "dense": (1, 0, 1),
    "rankgpt": (1, 1, 6),
    "icr": (1, 2, 4),
    "ic-ralm": (5, 0, 7),
    "replug": (5, 0, 5),
    "rspg-pre": (1, 0, 3),
    "purple": (1, 0, 1),
    "enough": (1, 0, 1),
}


@dataclass(slots=True, eq=False)
class Bench:
    """Trains methods once and builds them for any window; keeps what reaches the generators."""

    folder: Path
    trained: dict[str, Path] = field(default_factory=dict)

    def config(self, kind: str) -> Any:
        """Defaults, fitted in a few steps."""
        config = method_config(kind, {}, kind)
        for one in dataclasses.fields(config):
            value = getattr(config, one.name)
            if isinstance(value, FittingConfig):
                quick = replace(value, steps=3, lessons=4, check_every=3)
                config = replace(config, **{one.name: quick})
        return config

    def where(self, kind: str) -> Path | None:
        config = self.config(kind)
        if kind not in self.trained and isinstance(config, TrainableConfig):
            tools, folder = make_tools(Worded()), self.folder / kind
            config.train(material(tools), tools, folder, silent)
            self.trained[kind] = folder
        elif kind not in self.trained and isinstance(config, EnoughConfig):
            self.trained[kind] = saved_controller(self.folder / kind)
        return self.trained.get(kind)

    def tools(self, kind: str, window: int = 4096, max_records: int = K_MAX) -> Tools:
        folder = self.where(kind)
        return make_tools(Worded(window), Worded(), max_records=max_records, folder=folder)

    def build(self, kind: str, tools: Tools) -> Any:
        return self.config(kind).build(tools)


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("methods"))


def history(lengths: list[int]) -> tuple[Record, ...]:
    """One record for each number, with so many words."""
    return tuple(
        make_record(
            i + 1, context="", action=" ".join(WORDS[(i * i + j) % 8] for j in range(n)) + f" n{i}"
        )
        for i, n in enumerate(lengths)
    )


REQUEST = make_request(TWEETS, input="Paraphrase: amber dune by the fjord")
EXAMPLE = Example(REQUEST, "ember grove on amber")


def asked_with(tools: Tools, records: tuple[Record, ...], pool: Pool) -> Asked:
    return Asked(REQUEST, records, pool, tools.budget(REQUEST, pool))


def asked_of(tools: Tools, lengths: list[int], limit: int = 20) -> Asked:
    records = history(lengths)
    return asked_with(tools, records, pool_of(records[::-1][:limit]))


def answer(kind: str, method: Any, asked: Asked) -> Answered:
    if METHODS[kind].group == "oracle":
        found = method.answer_knowing(asked, EXAMPLE)
    else:
        found = method.answer(asked)
    assert isinstance(found, Answered)
    return found


def check(kind: str, tools: Tools, method: Any, asked: Asked) -> Answered:
    """Everything that holds for every method and every request."""
    generator = tools.generator
    assert isinstance(generator, Worded)
    generator.prompts.clear()
    generator.steered.clear()
    found = answer(kind, method, asked)

    assert set(found.records) <= set(asked.history), "records of the history, unaltered"
    assert found.reason
    if found.own_retrieval is None:
        assert set(found.records) <= {c.record for c in asked.pool}, "of the shared pool, or said"
    else:
        assert found.own_retrieval >= 0

    prompts = [*generator.prompts, *(p for some in generator.steered for p in some)]
    assert prompts, "no answer without the generator"
    assert found.one_prompt == (len(prompts) == 1)
    empty = len(tools.prompter.prompt(asked.request).tokens)
    assert found.profile_tokens == sum(len(prompt) - empty for prompt in prompts)
    in_prompts = []
    for prompt in prompts:
        length = len(prompt) + asked.request.task.max_answer_tokens
        assert length <= generator.window, "room for prompt and answer"
        shown = [line.action for line in parse_prompt(generator.text(prompt)).records]
        assert len(set(shown)) == len(shown), "a record stands in a prompt once"
        assert len(shown) <= tools.max_records or kind in WITHOUT_HORIZON
        in_prompts += shown
    assert in_prompts == [record.action for record in found.records], "said what was shown"
    if found.one_prompt:
        assert found.profile_tokens <= asked.budget.max_profile_tokens

    again = answer(kind, method, asked)
    same = replace(again, own_retrieval=None) == replace(found, own_retrieval=None)
    assert same, "the same answer again"
    return found


@pytest.mark.parametrize("kind", METHODS)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    lengths=st.lists(st.integers(1, 40), max_size=24),
    limit=st.integers(0, 20),
    room=st.integers(0, 400),
)
def test_legal_distinct_within_the_window_and_the_same_again(
    bench: Bench, kind: str, lengths: list[int], limit: int, room: int
) -> None:
    empty = len(make_tools().prompter.prompt(REQUEST).tokens)
    tools = bench.tools(kind, empty + TWEETS.max_answer_tokens + room)
    check(kind, tools, bench.build(kind, tools), asked_of(tools, lengths, limit))


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("size", [0, 1, 3, 20])
def test_nothing_one_record_less_than_k_and_a_full_pool(bench: Bench, kind: str, size: int) -> None:
    tools = bench.tools(kind)
    asked = asked_of(tools, [3] * size)
    found = check(kind, tools, bench.build(kind, tools), asked)
    assert len(found.records) <= size
    if size == 0:
        assert (found.records, found.profile_tokens, found.one_prompt) == ((), 0, True)


@pytest.mark.parametrize("kind", METHODS)
def test_the_reference_is_not_in_reach(bench: Bench, kind: str) -> None:
    tools = bench.tools(kind)
    method = bench.build(kind, tools)
    is_bound = METHODS[kind].group == "oracle"
    assert hasattr(method, "answer_knowing") == is_bound
    assert hasattr(method, "answer") != is_bound, "so that nothing takes a bound for a method"
    if not is_bound:
        assert list(inspect.signature(method.answer).parameters) == ["asked"]
    assert not any(isinstance(value, Example) for value in _inside(asked_of(tools, [3] * 3)))


def _inside(value: Any) -> Iterator[Any]:
    yield value
    if dataclasses.is_dataclass(value):
        for one in dataclasses.fields(value):
            yield from _inside(getattr(value, one.name))
    elif isinstance(value, tuple):
        for inner in value:
            yield from _inside(inner)


@pytest.mark.parametrize("kind", METHODS)
def test_where_records_come_from(bench: Bench, kind: str) -> None:
    """Who searches the history does not care about the pool; who does not is bound to it."""
    tools = bench.tools(kind)
    method = bench.build(kind, tools)
    asked = asked_of(tools, [3] * 12)
    found = answer(kind, method, asked)
    without = answer(kind, method, asked_with(tools, asked.history, ()))
    if found.own_retrieval is None:
        assert without.records == ()
    else:
        assert (without.records, without.text) == (found.records, found.text)


@pytest.mark.parametrize("kind", ["fixed", "fixed-tokens", "full", "ic-ralm"])
def test_the_order_of_the_pool_is_that_of_the_prompt(bench: Bench, kind: str) -> None:
    tools = bench.tools(kind, max_records=20)
    method = bench.build(kind, tools)
    records = history([3] * 8)
    there, back = (
        method.answer(asked_with(tools, records, pool_of(order)))
        for order in (records, records[::-1])
    )
    assert there.records == records[: len(there.records)]
    assert back.records == records[::-1][: len(back.records)]
    assert there.text != back.text  # of the last record, or of the first active prompt


@pytest.mark.parametrize("kind", METHODS)
def test_measured_calls_with_a_pool_of_twenty(bench: Bench, kind: str) -> None:
    generator, reranker = Meter(), Meter()
    folder = bench.where(kind)
    tools = make_tools(
        MeteredGenerator(Worded(), generator), MeteredGenerator(Worded(), reranker), folder=folder
    )
    assert getattr(bench.config(kind), "k", None) in (None, 5)
    answer(kind, bench.build(kind, tools), asked_of(tools, [3] * 20))
    measured = (generator.reading().calls, reranker.reading().calls)
    if METHODS[kind].group == "main":
        assert (*measured, METHODS[kind].paper_calls) == CALLS[kind]
    elif METHODS[kind].group == "diagnostic":
        assert measured == (1, 0)
    else:
        # The empty profile, every record alone, and the answer; the greedy one goes on.
        assert measured[0] >= 1 + 20 + 1
        assert measured[1] == 0


# The suite itself: entries that break a promise, each in its own way.


class Stuttering:
    """Shows its first record twice."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def answer(self, asked: Asked) -> Answered:
        records = tuple(candidate.record for candidate in asked.pool[:1])
        return self._tools.answer(asked.request, records * 2, "twice")


class Inventive(Stuttering):
    """Shows what nobody did."""

    def answer(self, asked: Asked) -> Answered:
        return self._tools.answer(asked.request, [make_record(99)], "made up")


class Greedy(Stuttering):
    """Shows everything, whether it fits or not."""

    def answer(self, asked: Asked) -> Answered:
        records = [candidate.record for candidate in asked.pool]
        return self._tools.answer(asked.request, records, "all")


class Silent(Stuttering):
    """Asks nobody."""

    def answer(self, asked: Asked) -> Answered:
        return Answered("", (), 0, reason="none")


class Modest(Stuttering):
    """Says less than it shows."""

    def answer(self, asked: Asked) -> Answered:
        records = [candidate.record for candidate in asked.pool[:2]]
        return replace(self._tools.answer(asked.request, records, "two"), records=(records[0],))


class Moody(Stuttering):
    """Takes one record more every time."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self._times = 0

    def answer(self, asked: Asked) -> Answered:
        self._times += 1
        return OneCall(FixedLength(self._times), self._tools).answer(asked)


class Secretive(Stuttering):
    """Searches the history and does not say so."""

    def answer(self, asked: Asked) -> Answered:
        return self._tools.answer(asked.request, asked.history[:1], "first")


@pytest.mark.parametrize(
    ("build", "fault"),
    [
        (Stuttering, "a record stands in a prompt once"),
        (Inventive, "records of the history"),
        (Greedy, "room for prompt and answer"),
        (Silent, "no answer without the generator"),
        (Modest, "said what was shown"),
        (Moody, "the same answer again"),
        (Secretive, "of the shared pool"),
    ],
)
def test_a_new_entry_is_in_the_suite_and_its_faults_are_found(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, build: Callable[[Tools], Method], fault: str
) -> None:
    @dataclass(frozen=True)
    class NewConfig:
        def build(self, tools: Tools) -> Method:
            return build(tools)

    monkeypatch.setattr("enough.baselines.fixed.NewConfig", NewConfig, raising=False)
    monkeypatch.setitem(METHODS, "new", Entry("new", "fixed", "NewConfig", "diagnostic"))
    tools = bench.tools("new", window=700)
    method = bench.build("new", tools)
    with pytest.raises(AssertionError, match=fault):
        check("new", tools, method, asked_of(tools, [40] * 20, limit=12))
