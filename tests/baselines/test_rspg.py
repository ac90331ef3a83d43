"""RSPG-Pre: the strategy that helps is chosen, and none where every record hurts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from enough.baselines.rspg import RSPGConfig
from enough.baselines.rspg_strategies import STRATEGIES, Strategies
from enough.baselines.tools import Foreseeing
from enough.baselines.towers import PARAMETERS
from enough.errors import ModelError
from enough.progress import silent
from tests.baselines.lessons import QUICK, HurtFake, Steps, content, lesson, material, trained
from tests.baselines.stand_ins import OpenFake, ids, make_tools
from tests.retrieval.tiny import BagEncoder

CONFIG = RSPGConfig(k=1, fit=QUICK, retriever_fit=QUICK)


def test_a_strategy_is_chosen_that_finds_what_helps(tmp_path: Path) -> None:
    tools, steps = make_tools(), Steps()
    report = CONFIG.train(material(tools), tools, tmp_path / "m", steps)
    assert [report["chosen"][name] for name in ("none", "recency", "dense")] == [0, 0, 0]
    titles = {name for name, _, _ in steps.told}
    assert titles >= {"ROPG-KD: fitting", "ROPG-RL: fitting", "RSPG-Pre: fitting"}
    answered = CONFIG.build(trained(tools, tmp_path / "m")).answer(lesson(99, tools).asked)
    assert ids(answered.records) == ["r1"]
    assert answered.text == "violet"


def test_what_is_foreseen_is_what_is_asked_for_later(tmp_path: Path) -> None:
    tools = make_tools()
    CONFIG.train(material(tools), tools, tmp_path / "m", silent)
    generator = OpenFake()
    method = CONFIG.build(trained(make_tools(generator), tmp_path / "m"))
    asked = [lesson(number, tools).asked for number in (97, 98, 99)]
    assert isinstance(method, Foreseeing)
    method.foresee(asked)
    for one in asked:
        method.answer(one)
    prompts = [prompt.tolist() for prompt in generator.prompts]
    assert len(prompts) == 6
    assert prompts[:3] == prompts[3:]


def test_none_is_chosen_where_every_record_hurts(tmp_path: Path) -> None:
    tools = make_tools(HurtFake())
    config = RSPGConfig(k=3, fit=QUICK, retriever_fit=QUICK)
    report = config.train(material(tools, action="teal"), tools, tmp_path / "m", silent)
    assert report["chosen"]["none"] == 4
    answered = config.build(trained(tools, tmp_path / "m")).answer(lesson(99, tools).asked)
    assert (answered.records, answered.profile_tokens) == ((), 0)
    assert answered.reason == "strategy none"


def strategies(k: int) -> Strategies:
    shapes = {"weight": (64, 64), "bias": (64,)}
    weights = {
        f"{name}.{part}": np.zeros(shapes[part.split(".")[1]], np.float32)
        for name in ("ropg-kd", "ropg-rl")
        for part in PARAMETERS
    }
    return Strategies(weights, make_tools(), k, 1.0)


def test_six_profiles_and_what_is_seen_of_them() -> None:
    six = strategies(2)
    asked = lesson(0, make_tools(), 5).asked
    profiles = six.profiles(asked.request, asked.history)
    assert [len(profile) for profile in profiles] == [0, 2, 2, 2, 2, 2]
    assert ids(profiles[STRATEGIES.index("recency")]) == ["r5", "r4"]
    assert profiles[4] == profiles[3]  # untrained towers are the frozen encoder
    seen = six.features(asked.request, profiles)
    assert seen.shape == (6, six.width)
    np.testing.assert_array_equal(seen[0, 64:193], 0)  # no records, no vectors of any
    np.testing.assert_allclose(np.linalg.norm(seen[:, :64], axis=1), 8, rtol=1e-5)
    np.testing.assert_array_equal(seen[1:, 192], 1)
    np.testing.assert_array_equal(seen[:, 193:], np.eye(6))


def test_nobody_has_a_history() -> None:
    asked = lesson(0, make_tools()).asked
    six = strategies(2)
    profiles = six.profiles(asked.request, ())
    assert profiles == [()] * 6
    assert np.isfinite(six.features(asked.request, profiles)).all()


def test_the_same_seed_gives_the_same_bytes_and_only_its_encoder_reads_them(
    tmp_path: Path,
) -> None:
    for name in ("a", "b"):
        tools = make_tools()
        CONFIG.train(material(tools), tools, tmp_path / name, silent)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    with pytest.raises(ModelError, match="another encoder"):
        CONFIG.build(make_tools(encoder=BagEncoder("other"), folder=tmp_path / "a"))
