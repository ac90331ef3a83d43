"""One way from settings to a generator, and what another's engine cannot do."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from enough.errors import ModelError
from enough.generators.config import GeneratorConfig
from enough.generators.fake import FakeGenerator
from enough.generators.loading import ClosedGenerator, load_configured, load_open
from enough.generators.remote.config import RemoteConfig
from enough.generators.remote.generator import RemoteGenerator
from enough.labels.machine import load_generator, worker_count
from tests.generators.open_fake import Rule
from tests.labels.runs import small_config


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> GeneratorConfig:
    monkeypatch.setattr(RemoteGenerator, "load", lambda _: FakeGenerator())
    return GeneratorConfig(model="m", remote=RemoteConfig("http://gpu"))


def test_a_server_is_loaded_wherever_a_generator_is(remote: GeneratorConfig) -> None:
    assert isinstance(load_configured(remote), FakeGenerator)
    assert isinstance(load_generator(remote, 1), FakeGenerator)  # no threads to set
    assert isinstance(load_open(remote), ClosedGenerator)


def test_one_worker_is_enough_for_a_server(remote: GeneratorConfig) -> None:
    config = dataclasses.replace(small_config(), generator=remote)
    assert worker_count(config, ()) == 1
    engine = dataclasses.replace(config.engine, workers=3)
    assert worker_count(dataclasses.replace(config, engine=engine), ()) == 3


def test_nobody_looks_into_it(remote: GeneratorConfig) -> None:
    closed: Any = load_open(remote)
    prompt = np.ones(3, np.int32)
    with pytest.raises(ModelError, match="IC-RALM and REPLUG"):
        closed.steer([Rule()], 3)
    with pytest.raises(ModelError, match=r"name a model that runs here as \[reranker\]"):
        closed.attention(prompt, [prompt])
