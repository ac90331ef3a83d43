"""The active record changes when the last tokens were likelier under another, and only then."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from enough.baselines.ic_ralm import ContextSwitching, ICRALMConfig
from enough.errors import ConfigError
from enough.protocols import Floats
from tests.baselines.stand_ins import OpenFake, ask, films, ids, make_tools

# Probabilities of the next token, of which there are three.
FIRST, SECOND = [0.5, 0.3, 0.2], [0.1, 0.8, 0.1]
SURE = [0.9, 0.05, 0.05]


def step(*rows: list[float]) -> Floats:
    return np.log(np.array(rows, np.float32))


def test_it_changes_to_the_prompt_that_explains_the_last_tokens() -> None:
    switching = ContextSwitching(stride=2, length=2)
    # The first prompt writes 0, 0. They had .5·.5 under the first and .9·.9 under the second,
    assert switching.next(step(FIRST, SURE)) == 0
    assert switching.next(step(FIRST, SURE)) == 0
    # so the second writes 1, 1. They had .3·.9 under the first and .8·.3 under the second,
    assert switching.next(step(FIRST, SECOND)) == 1
    assert switching.next(step([0.05, 0.9, 0.05], [0.25, 0.3, 0.25])) == 1
    # so it is the first one's turn again.
    assert switching.next(step(FIRST, SECOND)) == 0


def test_between_two_choices_nothing_changes() -> None:
    switching = ContextSwitching(stride=2, length=1)
    assert switching.next(step(FIRST, SURE)) == 0  # .5 against .9, but it is no time to choose
    assert switching.next(step(FIRST, SECOND)) == 0  # .5 against .1: the first stays
    assert switching.next(step(FIRST, SECOND)) == 0


def test_only_the_last_tokens_count() -> None:
    likelier_first, likelier_second = step([0.9, 0.1], [0.6, 0.4]), step([0.6, 0.4], [0.9, 0.1])
    last = step([0.9, 0.1], [0.1, 0.9])
    for length, expected in ((1, 1), (3, 0)):
        # Token 0 three times. The last one is likelier under the second prompt (.9 against .6);
        # of all three the product is .9·.9·.6 = .486 under the first, .6·.6·.9 = .324 under it.
        switching = ContextSwitching(stride=3, length=length)
        for log_probs in (likelier_first, likelier_first, likelier_second):
            assert switching.next(log_probs) == 0
        assert switching.next(last) == expected


def test_a_tie_goes_to_the_earlier_record() -> None:
    switching = ContextSwitching(stride=1, length=1)
    assert switching.next(step(FIRST, FIRST, FIRST)) == 0
    assert switching.next(step(SECOND, FIRST, FIRST)) == 1  # still the first prompt


def test_an_impossible_token_is_no_trouble() -> None:
    switching = ContextSwitching(stride=1, length=2)
    with np.errstate(divide="ignore"):
        never = step([0.6, 0.4], [0.0, 1.0])
    assert switching.next(never) == 0
    assert switching.next(never) == 0


def test_one_answer_to_prompts_of_one_record() -> None:
    generator = OpenFake(distributions=[step(FIRST, SURE)] * 2 + [step(FIRST, SECOND)])
    tools = make_tools(generator)
    asked = ask(tools, films("amber", "birch"))
    answered = ICRALMConfig(stride=2, length=2).build(tools).answer(asked)
    assert answered.text == "0 0 1"
    assert ids(answered.records) == ["r1", "r2"]
    assert answered.profile_tokens == sum(asked.budget.record_tokens)
    assert not answered.one_prompt
    (prompts,) = generator.steered
    expected = [tools.prompter.prompt(asked.request, [record]).tokens for record in asked.history]
    assert [p.tolist() for p in prompts] == [e.tolist() for e in expected]


def test_each_record_has_the_whole_room() -> None:
    generator = OpenFake(distributions=[step(FIRST, FIRST)])
    tools = make_tools(generator)
    asked = ask(tools, films("amber", "birch " * 30, "cedar", "dune"))
    room = asked.budget.record_tokens[0]  # the second record is longer
    tight = dataclasses.replace(asked.budget, max_profile_tokens=room)
    answered = ICRALMConfig(k=2).build(tools).answer(dataclasses.replace(asked, budget=tight))
    assert ids(answered.records) == ["r1", "r3"]
    assert answered.profile_tokens == 2 * room


@pytest.mark.parametrize("texts", [(), ("amber",)])
def test_one_prompt_or_none_is_answered_as_usual(texts: tuple[str, ...]) -> None:
    generator = OpenFake()
    tools = make_tools(generator)
    answered = ICRALMConfig().build(tools).answer(ask(tools, films(*texts)))
    assert len(answered.records) == len(texts)
    assert answered.one_prompt
    assert answered.text == ("tag1" if texts else "")
    assert (len(generator.prompts), len(generator.steered)) == (1, 0)


def test_the_key_names_the_rule() -> None:
    keys = {ContextSwitching(stride, length).key for stride in (1, 2) for length in (1, 2)}
    assert len(keys) == 4
    with pytest.raises(ConfigError, match="stride must be at least 1"):
        ICRALMConfig(stride=0)
