"""PURPLE: rewards and gradients by hand, and a policy that learns."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from enough.baselines.purple import PolicyFittingConfig, PURPLEConfig
from enough.baselines.purple_network import PURPLESelector, collated, features, new_network
from enough.baselines.purple_rollouts import Course, advantages
from enough.errors import ConfigError
from enough.progress import silent
from enough.protocols import Budget
from tests.baselines.lessons import CountingFake, Steps, content, lesson, material, trained
from tests.baselines.stand_ins import OpenFake, ids, make_tools

CONFIG = PURPLEConfig(
    k=1, rollouts=4, fit=PolicyFittingConfig(steps=40, lessons=6, learning_rate=5e-3)
)


def test_advantages_are_normalised_for_each_request() -> None:
    found = advantages(np.array([[1.0, 3.0], [5.0, 5.0]]))
    np.testing.assert_allclose(found, [[-1, 1], [0, 0]], atol=1e-6)


def test_the_reward_is_a_sum_and_equal_profiles_are_scored_once() -> None:
    generator = CountingFake()
    tools = make_tools(generator)
    course = Course.of([lesson(0, tools, reference="violet hour")], tools, 2)
    wanted = [(0, (0,)), (0, (3,)), (0, (0,)), (0, (3, 0))]
    rewards = course.rewards(wanted)
    # "violet", a blank and "hour"; blanks are in every prompt.
    poor = math.log(0.5) + 2 * math.log(0.01)
    np.testing.assert_allclose(rewards, [poor, 3 * math.log(0.5), poor, 3 * math.log(0.5)])
    course.rewards([(0, (3,)), (0, (1,))])
    assert generator.scored == [3, 1]


def test_a_step_raises_the_probability_of_the_better_profile() -> None:
    tools = make_tools()
    course = Course.of([lesson(0, tools)], tools, 1)
    network = new_network(64, seed=0)

    def share_of_the_good_one() -> float:
        with torch.no_grad():
            log_scores = network(*collated([course.subjects[0].features]))[0]
        return float(torch.softmax(log_scores, dim=0)[3])

    before = share_of_the_good_one()
    loss = course.loss(network, np.array([0]), 16, np.random.default_rng(0))
    loss.backward()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for parameter in network.parameters():
            assert parameter.grad is not None
            parameter.sub_(0.01 * parameter.grad)
    assert share_of_the_good_one() > before


def test_the_order_of_the_pool_does_not_matter() -> None:
    tools = make_tools()
    asked = lesson(5, tools, 6).asked
    network = new_network(64, seed=3).eval()
    forth = features(asked.request, asked.pool, tools.encoder)
    with torch.no_grad():
        there = network(*collated([forth, forth[:2]]))[0]
        back = network(*collated([forth[::-1]]))[0]
    np.testing.assert_allclose(there, back.flip(0), atol=1e-5)


def test_it_learns_and_answers_with_the_best_record(tmp_path: Path) -> None:
    tools, steps = make_tools(), Steps()
    report = CONFIG.train(material(tools), tools, tmp_path / "m", steps)
    assert report["loss"] == pytest.approx(-math.log(0.5))  # all greedy profiles hold the answer
    assert steps.told[-1] == ("PURPLE: fitting", 40, 40)
    answered = CONFIG.build(trained(tools, tmp_path / "m")).answer(lesson(99, tools).asked)
    assert (ids(answered.records), answered.text) == (["r1"], "violet")


def test_profiles_that_do_not_fit_are_never_drawn() -> None:
    roomy = make_tools()
    asked = lesson(0, roomy).asked
    answer = asked.request.task.max_answer_tokens
    two = len(roomy.prompter.prompt(asked.request, asked.history[:2]).tokens)
    tools = make_tools(OpenFake(two + answer))
    course = Course.of([lesson(0, roomy)], tools, 4)
    course.loss(new_network(64, 0), np.array([0]), 8, np.random.default_rng(0))
    assert {len(profile) for _, profile in course.known} <= {1, 2}


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        tools = make_tools(seed=seed)
        torch.rand(3)  # whatever was drawn before
        CONFIG.train(material(tools), tools, tmp_path / name, silent)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert content(tmp_path / "a")[0] != content(tmp_path / "c")[0]


def test_an_empty_pool_and_one_rollout() -> None:
    tools = make_tools()
    selector = PURPLESelector(new_network(64, 0), tools.encoder, 5)
    assert selector.select(lesson(0, tools).asked.request, (), Budget(0, 0, ())).is_empty
    with pytest.raises(ConfigError, match="rollouts"):
        PURPLEConfig(rollouts=1)
