from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enough.errors import BudgetError
from enough.generators.fake import FakeTokenizer
from enough.prompts.prompter import L_REF, Prompter
from enough.prompts.serialise import metadata_of
from enough.prompts.template import SYSTEM, parse_prompt
from enough.records import Candidate, Record
from enough.tasks import LAMP_TASKS
from tests.conftest import make_example, make_record, make_request
from tests.prompts.test_escape import NASTY, hostile_text


@pytest.fixture
def prompter() -> Prompter:
    return Prompter(FakeTokenizer())


def test_the_whole_text(prompter: Prompter) -> None:
    request = make_request()
    assert prompter.text(request, [make_record(1), make_record(2)]) == (
        f"{SYSTEM}\n<|user|><TASK>\n{request.task.description}\n</TASK>\n<USER_HISTORY>\n"
        "[TASK] LaMP-2 [HIST_CONTEXT] A film about lighthouse keepers, part 1. "
        "[USER_ACTION] twist ending [META] date=2020-01-01\n"
        "[TASK] LaMP-2 [HIST_CONTEXT] A film about lighthouse keepers, part 2. "
        "[USER_ACTION] twist ending [META] date=2020-01-02\n"
        f"</USER_HISTORY>\n<CURRENT_REQUEST>\n{request.input}\n</CURRENT_REQUEST><|end|>\n"
    )


def test_an_empty_profile_keeps_both_delimiters_and_costs_nothing(prompter: Prompter) -> None:
    assert "<USER_HISTORY>\n</USER_HISTORY>" in prompter.text(make_request(), [])
    assert prompter.prompt(make_request()).profile_tokens == 0


@given(st.permutations(range(5)), st.integers(0, 5))
def test_cost_is_the_exact_increment_and_additive(order: list[int], count: int) -> None:
    prompter = Prompter(FakeTokenizer())
    request = make_request()
    records = [make_record(i + 1, context="word " * (i + 1)) for i in order[:count]]
    prompt = prompter.prompt(request, records)
    increment = len(prompt.tokens) - len(prompter.prompt(request).tokens)
    assert prompt.profile_tokens == increment
    assert increment == sum(prompter.record_tokens(request.task, record) for record in records)
    assert prompt.cost == increment / L_REF


def test_reference_follows_the_prompt(prompter: Prompter) -> None:
    sequence = prompter.sequence(make_example("twist ending"), [make_record()])
    assert sequence.reference_length == 3  # "twist", " ", "ending"
    prompt = prompter.prompt(make_request(), [make_record()])
    np.testing.assert_array_equal(sequence.tokens[:-3], prompt.tokens)


def test_budget_is_what_the_window_leaves(prompter: Prompter) -> None:
    request = make_request()
    pool = tuple(Candidate(make_record(i), 1.0 / i) for i in range(1, 4))
    empty = len(prompter.prompt(request).tokens)
    budget = prompter.budget(request, pool, window=empty + 16 + 50, max_records=10)
    assert budget.max_profile_tokens == 50  # the answer's room of LaMP-2 is 16
    assert budget.max_records == 3
    assert budget.record_tokens == tuple(
        prompter.record_tokens(request.task, c.record) for c in pool
    )
    with pytest.raises(BudgetError, match="'q1' needs"):
        prompter.budget(request, pool, window=empty + 15, max_records=10)


@settings(max_examples=50)
@given(st.lists(st.tuples(hostile_text, hostile_text), max_size=4), hostile_text)
def test_nothing_breaks_out_of_the_fake_models_prompt(
    texts: list[tuple[str, str]], request_text: str
) -> None:
    _check_hostile(Prompter(FakeTokenizer()), texts, request_text)


@pytest.mark.lm
def test_nothing_breaks_out_of_the_real_models_prompt(default_generator: Any) -> None:
    prompter = Prompter(default_generator.tokenizer)
    everything = "".join(NASTY) + "".join(default_generator.tokenizer.control_tokens)
    texts = [(nasty, nasty[::-1]) for nasty in NASTY]
    texts += [(everything, everything), ("<|im_end|>\n" * 90_000, "a")]  # one of about 1 MB
    for request_text in ("", everything):
        _check_hostile(prompter, texts, request_text)


def _check_hostile(prompter: Prompter, texts: list[tuple[str, str]], request_text: str) -> None:
    task = LAMP_TASKS["LaMP-7"]
    request = make_request(task, input=f"Paraphrase: {request_text}")
    records = [
        Record(str(i), "u", context, action, metadata=(("note", action),))
        for i, (context, action) in enumerate(texts)
    ]
    text = prompter.text(request, records)
    parsed = parse_prompt(text)
    assert len(parsed.records) == len(records)
    for record, back in zip(records, parsed.records, strict=True):
        assert (back.context, back.action) == (record.context, record.action)
        assert back.metadata == metadata_of(record)
    # The same control tokens as in the harmless prompt: none was smuggled in.
    harmless = prompter.prompt(make_request(task, input="Paraphrase: hello"))
    assert _controls(prompter, prompter.prompt(request, records).tokens) == _controls(
        prompter, harmless.tokens
    )


def _controls(prompter: Prompter, tokens: Any) -> int:
    return prompter._count_controls(tokens)
