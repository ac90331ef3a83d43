"""Each retriever's own order of the whole history, whatever the shared pool is."""

from __future__ import annotations

import dataclasses

import pytest

from enough.baselines import ranked
from enough.baselines.ranked import (
    BM25Config,
    DenseConfig,
    MMRConfig,
    RandomConfig,
    RecencyConfig,
)
from enough.baselines.registry import method_config
from enough.baselines.tools import MethodConfig, Tools
from enough.errors import ConfigError
from enough.protocols import Encoder
from tests.baselines.stand_ins import ask, films, ids, make_tools
from tests.online.stand_ins import TableEncoder

QUERY = "amber birch"
HISTORY = films("cedar dune", "amber birch", "amber birch", "amber", "ember")
VECTORS = {
    "amber birch": [1.0, 0.0, 0.0],
    "amber": [0.8, 0.6, 0.0],
    "cedar dune": [0.0, 1.0, 0.0],
    "ember": [0.0, 0.0, 1.0],
}


def answered(config: MethodConfig, tools: Tools | None = None) -> list[str]:
    """The shared pool is empty: what is found comes from the history."""
    tools = tools or make_tools(encoder=TableEncoder(VECTORS))
    asked = dataclasses.replace(ask(tools, HISTORY, QUERY), pool=())
    return ids(config.build(tools).answer(asked).records)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (BM25Config(k=3), ["r2", "r3", "r4"]),  # two words shared, one, none
        (DenseConfig(k=3), ["r2", "r3", "r4"]),
        (RecencyConfig(k=3), ["r5", "r4", "r3"]),
        (MMRConfig(k=2, relevance_weight=1.0), ["r2", "r3"]),
        # The twin is worth .4·1 − .6·1, the similar one .4·.8 − .6·.8, an unrelated one nothing.
        (MMRConfig(k=2, relevance_weight=0.4), ["r2", "r1"]),
    ],
)
def test_the_order(config: MethodConfig, expected: list[str]) -> None:
    assert answered(config) == expected


def test_random_records_depend_on_seed_and_request_alone() -> None:
    by_seed = [answered(RandomConfig(k=3), make_tools(seed=seed)) for seed in range(8)]
    assert by_seed == [answered(RandomConfig(k=3), make_tools(seed=seed)) for seed in range(8)]
    assert all(len(set(chosen)) == 3 for chosen in by_seed)
    assert len(set(map(tuple, by_seed))) > 1


def test_a_record_that_does_not_fit_is_replaced_by_the_next() -> None:
    tools = make_tools()
    history = films("amber birch " * 2000, "amber", "birch")
    asked = ask(tools, history, QUERY)
    records = BM25Config(k=2).build(tools).answer(asked).records
    assert ids(records) == ["r2", "r3"]


def test_an_encoder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(name: str) -> Encoder:
        loaded.append(name)
        return TableEncoder(VECTORS | {"ember": [9.0, 0.0, 0.0]})

    monkeypatch.setattr(ranked, "load_encoder", load)
    monkeypatch.setattr(ranked, "CachedEncoder", lambda encoder: encoder)
    config = DenseConfig(k=1, encoder="contriever")
    assert answered(config) == ["r5"]
    assert answered(DenseConfig(k=1)) == ["r2"]
    assert loaded == ["contriever"]
    assert (config.title, DenseConfig().title) == ("dense (contriever)", "dense")


def test_settings_come_from_tables() -> None:
    assert method_config("dense", {"k": 2, "encoder": "bge-m3"}, "here") == DenseConfig(2, "bge-m3")
    with pytest.raises(ConfigError, match="k must be at least 1"):
        BM25Config(k=0)
    with pytest.raises(ConfigError, match="relevance_weight"):
        MMRConfig(relevance_weight=1.5)
