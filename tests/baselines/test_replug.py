"""REPLUG: the mixture by hand, and a retriever that follows the likelihoods."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from enough.baselines.replug import REPLUG, Mixture, REPLUGConfig
from enough.progress import silent
from enough.records import History, Pool, Request
from tests.baselines.lessons import QUICK, content, lesson, material, trained
from tests.baselines.stand_ins import OpenFake, films, ids, make_tools, pool_of

CONFIG = REPLUGConfig(k=2, fit=QUICK)

FIRST, SECOND = [0.6, 0.1, 0.3], [0.05, 0.7, 0.25]
"""Two prompts' distributions over three tokens."""


class InOrder:
    """Finds everything, with the scores it was given."""

    def __init__(self, *scores: float) -> None:
        self._scores = scores

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        pairs = zip(pool_of(history), self._scores, strict=False)
        return tuple(replace(candidate, score=score) for candidate, score in pairs)[:limit]


def test_the_mixture_by_hand() -> None:
    log_probs = np.log(np.array([FIRST, SECOND], np.float32))
    mixture = Mixture(np.log([1.0, 3.0]))
    np.testing.assert_allclose(np.exp(mixture.log_weights), [0.25, 0.75])
    expected = [0.25 * p + 0.75 * q for p, q in zip(FIRST, SECOND, strict=True)]
    np.testing.assert_allclose(mixture.mixed(log_probs), expected, rtol=1e-6)
    assert mixture.next(log_probs) == 1
    assert Mixture(np.log([3.0, 1.0])).next(log_probs) == 0


def test_the_mixture_is_of_probabilities_not_of_logs() -> None:
    # Token 0 has the higher mixture, token 1 the higher mean of log-probabilities.
    log_probs = np.log(np.array([[0.9, 0.1], [1e-3, 0.999]], np.float32))[:, ::1]
    weights = np.log([0.6, 0.4])
    assert Mixture(weights).next(log_probs) == 0
    assert int((np.exp(weights) @ log_probs).argmax()) == 1


def test_the_key_names_the_weights_exactly() -> None:
    scores = np.array([0.3, 0.1])
    assert Mixture(scores).key == Mixture(scores + 0.0).key
    assert Mixture(scores).key != Mixture(scores + np.array([1e-12, 0])).key


def test_large_scores_do_not_overflow() -> None:
    np.testing.assert_array_equal(Mixture(np.array([2e4, 0.0])).log_weights, [0, -2e4])


def test_k_prompts_of_one_record_each() -> None:
    steps = [np.log(np.array([FIRST, SECOND], np.float32))]
    generator = OpenFake(distributions=steps)
    tools = make_tools(generator)
    asked = lesson(0, tools).asked
    answered = REPLUG(InOrder(3.0, 1.0, 0.5), tools, 2).answer(asked)
    assert answered.text == "0"
    assert answered.records == asked.history[:2]
    assert not answered.one_prompt
    prompts = [tools.prompter.prompt(asked.request, [record]) for record in asked.history[:2]]
    assert answered.profile_tokens == sum(prompt.profile_tokens for prompt in prompts)
    for sent, prompt in zip(generator.steered[0], prompts, strict=True):
        np.testing.assert_array_equal(sent, prompt.tokens)


def test_one_record_or_none_is_a_plain_prompt() -> None:
    generator = OpenFake()
    tools = make_tools(generator)
    asked = lesson(0, tools).asked
    alone = REPLUG(InOrder(1.0), tools, 5).answer(asked)
    assert (ids(alone.records), alone.text, alone.one_prompt) == (["r1"], "violet", True)
    nothing = REPLUG(InOrder(), tools, 5).answer(asked)
    assert nothing.records == ()
    assert (nothing.profile_tokens, nothing.one_prompt) == (0, True)
    assert generator.steered == []
    np.testing.assert_array_equal(generator.prompts[1], tools.prompter.prompt(asked.request).tokens)


def test_a_record_that_fits_no_prompt_is_passed_over() -> None:
    tools = make_tools()
    asked = lesson(0, tools).asked
    short, long = films("one", "one two three four five six seven")
    window = len(tools.prompter.prompt(asked.request, [short]).tokens)
    small = make_tools(OpenFake(window + asked.request.task.max_answer_tokens))
    found = REPLUG(InOrder(2.0, 1.0), small, 2).answer(replace(asked, history=(long, short)))
    assert ids(found.records) == [short.id]
    assert found.one_prompt


def test_the_retriever_learns_what_makes_the_reference_likely(tmp_path: Path) -> None:
    generator = OpenFake(distributions=[np.zeros((2, 3), np.float32)])
    tools = make_tools(generator)
    report = CONFIG.train(material(tools), tools, tmp_path / "m", silent)
    assert report["loss"] < report["loss_before"] / 10
    answered = CONFIG.build(trained(tools, tmp_path / "m")).answer(lesson(99, tools).asked)
    assert answered.records[0].id == "r1"


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        tools = make_tools()
        CONFIG.train(material(tools), tools, tmp_path / name, silent)
    assert content(tmp_path / "a") == content(tmp_path / "b")
