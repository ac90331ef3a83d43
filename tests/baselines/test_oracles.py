"""Bounds that know the reference: never below the empty profile, never above what they may take."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from enough.baselines.oracles import GreedyOracle, GreedyOracleConfig, RecordOracleConfig
from enough.errors import ConfigError
from enough.protocols import OnBatch, ScoredSequence
from enough.records import Example, Record
from tests.baselines.stand_ins import OpenFake, ask, films, ids, make_tools


class Moody(OpenFake):
    """Likelihoods without rhyme or reason: a checksum of the sequence."""

    def __init__(self, mood: int) -> None:
        super().__init__()
        self._mood = mood

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        sums = [zlib.crc32(one.tokens.tobytes(), self._mood) for one in sequences]
        return -np.array(sums) / 2**32


def test_the_best_record_or_none() -> None:
    # A word of the reference is worth log .5 where the prompt has it, log .01 where not.
    tools = make_tools()
    asked = ask(tools, films("nothing", "a lantern", "a silver lantern", "silver"))
    oracle = RecordOracleConfig().build(tools)
    answered = oracle.answer_knowing(asked, Example(asked.request, "silver lantern"))
    assert ids(answered.records) == ["r3"]
    assert answered.text == "tag3"
    answered = oracle.answer_knowing(asked, Example(asked.request, "keeper"))
    assert answered.records == ()  # the request says it already
    assert answered.reason == "no further record raises the likelihood"


def test_greedy_appends_while_it_helps() -> None:
    tools = make_tools()
    asked = ask(tools, films("silver", "gold silver", "copper", "gold", "iron"))
    example = Example(asked.request, "silver gold copper")
    answered = GreedyOracleConfig().build(tools).answer_knowing(asked, example)
    assert ids(answered.records) == ["r2", "r3"]  # two words, then the third; then nothing
    answered = GreedyOracleConfig(k=1).build(tools).answer_knowing(asked, example)
    assert ids(answered.records) == ["r2"]


def test_a_least_gain() -> None:
    tools = make_tools()
    asked = ask(tools, films("silver gold", "copper"))
    example = Example(asked.request, "silver gold copper")  # five tokens, of which two are blanks
    one_word = np.log(0.5 / 0.01) / 5
    for least, expected in ((0.99 * one_word, 2), (1.01 * one_word, 1), (2.01 * one_word, 0)):
        oracle = GreedyOracleConfig(min_gain=float(least)).build(tools)
        assert len(oracle.answer_knowing(asked, example).records) == expected


def score(tools_of: Moody, example: Example, records: Sequence[Record]) -> float:
    tools = make_tools(tools_of)
    return float(tools_of.score([tools.prompter.sequence(example, records)])[0])


@given(mood=st.integers(0, 10_000), size=st.integers(0, 5), horizon=st.integers(0, 3))
def test_greedy_is_never_below_empty_or_the_best_record(mood: int, size: int, horizon: int) -> None:
    generator = Moody(mood)
    tools = make_tools(generator, max_records=horizon)
    asked = ask(tools, films(*"abcde"[:size]))
    example = Example(asked.request, "silver")
    one = RecordOracleConfig().build(tools).answer_knowing(asked, example).records
    more = GreedyOracleConfig().build(tools).answer_knowing(asked, example).records
    empty = score(generator, example, ())
    alone = [score(generator, example, [record]) for record in asked.history if horizon]
    assert score(generator, example, one) == max([empty, *alone])
    assert score(generator, example, more) >= score(generator, example, one)
    assert len(set(more)) == len(more) <= horizon


def test_the_budget_and_a_long_reference() -> None:
    tools = make_tools()
    asked = ask(tools, films("silver " * 9, "silver"))
    long, short = asked.budget.record_tokens
    limit = asked.request.task.max_answer_tokens
    reference = " ".join(["silver"] * (limit // 2 + 2))  # 2n − 1 tokens: three more than the limit
    example = Example(asked.request, reference)
    assert len(tools.prompter.reference(example)) == limit + 3

    def chosen(room: int) -> list[str]:
        budget = dataclasses.replace(asked.budget, max_profile_tokens=room)
        oracle = GreedyOracle(tools, k=5, min_gain=0.0)
        return ids(oracle.choose(dataclasses.replace(asked, budget=budget), example).records)

    assert chosen(long + 3) == ["r1"]
    assert chosen(long + 2) == ["r2"]
    assert chosen(short + 2) == []
    assert chosen(2) == []


def test_impossible_settings() -> None:
    with pytest.raises(ConfigError, match="k must be at least 1"):
        GreedyOracleConfig(k=0)
    with pytest.raises(ConfigError, match="min_gain must be at least 0"):
        GreedyOracleConfig(min_gain=-0.1)
