"""ROPG: losses by hand, and a retriever that learns to find what helps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from enough.baselines.feedback import Rated
from enough.baselines.ropg import (
    ROPGKDConfig,
    draw_one,
    rate_material,
    reinforce,
    reinforce_loss,
)
from enough.baselines.tools import Material
from enough.baselines.towers import EVERY, Taught, TrainedRetriever, cross_entropy, divergence
from enough.errors import ConfigError
from enough.progress import silent
from enough.protocols import OnBatch, ScoredSequence
from tests.baselines.lessons import QUICK, Steps, content, lesson, material, trained
from tests.baselines.stand_ins import OpenFake, make_tools

CONFIG = ROPGKDConfig(k=1, fit=QUICK)


def test_the_distillation_loss_by_hand() -> None:
    tools = make_tools()
    one, two = lesson(0, tools, 2), lesson(1, tools, 3)
    rated = [
        Rated(one, one.asked.pool, np.array([0, 2 * math.log(2)])),
        Rated(two, two.asked.pool, np.zeros(3)),
    ]
    targets = Taught.of(rated, tools.encoder).targets(EVERY, temperature=2.0)
    np.testing.assert_allclose(targets[0], [1 / 3, 2 / 3, 0], atol=1e-6)
    scores = torch.tensor([[0, math.log(3), -math.inf], [7.0, 7.0, 7.0]])
    first = -(math.log(1 / 4) / 3 + 2 * math.log(3 / 4) / 3)
    assert float(cross_entropy(targets, scores)) == pytest.approx((first + math.log(3)) / 2)
    entropy = math.log(3) - 2 * math.log(2) / 3
    assert float(divergence(targets, scores)) == pytest.approx((first - entropy) / 2, abs=1e-6)


def test_the_reinforcement_loss_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(3)], [0.0, 0.0]])
    worth = torch.tensor([[1.0, 3.0], [2.0, 1.0]])
    loss = reinforce_loss(scores, worth, torch.tensor([1, 1]))
    assert float(loss) == pytest.approx((-2 * math.log(3 / 4) + 1 * math.log(1 / 2)) / 2)


def test_records_are_drawn_by_their_share() -> None:
    scores = torch.tensor([[0.0, math.log(3), -math.inf]]).repeat(4000, 1)
    drawn = draw_one(scores, np.random.default_rng(0)).bincount(minlength=3) / 4000
    np.testing.assert_allclose(drawn, [0.25, 0.75, 0], atol=0.02)


def test_distillation_finds_what_helps(tmp_path: Path) -> None:
    tools, steps = make_tools(), Steps()
    report = CONFIG.train(material(tools), tools, tmp_path / "m", steps)
    assert report["loss"] < report["loss_before"]
    assert report["lessons"] == 12
    assert ("ROPG-KD: fitting", 60, 60) in steps.told
    new = lesson(99, tools).asked
    answered = CONFIG.build(trained(tools, tmp_path / "m")).answer(new)
    assert answered.text == "violet"
    assert [record.id for record in answered.records] == ["r1"]


def test_any_k_can_be_read_off_one_training(tmp_path: Path) -> None:
    tools = make_tools()
    CONFIG.train(material(tools), tools, tmp_path / "m", silent)
    three = ROPGKDConfig(k=3, fit=QUICK).build(trained(tools, tmp_path / "m"))
    assert len(three.answer(lesson(99, tools).asked).records) == 3


def test_reinforcement_raises_the_better_record() -> None:
    tools = make_tools()
    rated = rate_material(material(tools), "likelihood", tools, silent, "x")
    weights, report = reinforce(rated, tools, 1.0, QUICK, silent)
    assert report["loss"] < report["loss_before"]
    asked = lesson(99, tools).asked
    found = TrainedRetriever(weights, tools.encoder, 1.0).retrieve(asked.request, asked.history, 1)
    assert found[0].record.id == "r1"


def test_methods_share_what_the_same_lessons_are_worth() -> None:
    tools = make_tools()
    some = material(tools)
    first = rate_material(some, "likelihood", tools, silent, "x")
    nothing = make_tools(Unable())
    again = rate_material(some, "likelihood", nothing, silent, "y")
    assert [one.worth.tolist() for one in again[0]] == [one.worth.tolist() for one in first[0]]
    with pytest.raises(AssertionError):
        rate_material(material(tools), "likelihood", nothing, silent, "z")


class Unable(OpenFake):
    """Scores nothing."""

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        raise AssertionError("scored")


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        tools = make_tools(seed=seed)
        torch.rand(3)  # whatever was drawn before
        CONFIG.train(material(tools), tools, tmp_path / name, silent)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert content(tmp_path / "a")[0] != content(tmp_path / "c")[0]


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    tools = make_tools()
    some = material(tools)
    with pytest.raises(ConfigError, match="ropg-kd: there is no request to choose on"):
        CONFIG.train(Material(some.fit, ()), tools, tmp_path / "m", silent)
    with pytest.raises(ConfigError, match="trained first"):
        CONFIG.build(tools)
