"""Every method by the name a recipe uses: one line each.

`title` stands in tables; `paper_calls` are the generator-equivalent calls the paper counts; the
group "main" is the paper's main table, "diagnostic" stands beside it, "oracle" knows the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from enough.config import from_table
from enough.errors import UnknownNameError

Group = Literal["main", "diagnostic", "oracle"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A kind of method.

    Attributes:
        title: in tables.
        module, settings: where its settings are; imported when they are asked for.
        group: which table it belongs to.
        paper_calls: generator-equivalent calls per request in the paper; None where it has none.
        looks_into: which model it steers or reads the attention of; that one has to run here.
    """

    title: str
    module: str
    settings: str
    group: Group
    paper_calls: int | None = None
    looks_into: Literal["generator", "reranker"] | None = None

    def config_type(self) -> Callable[..., Any]:
        """The dataclass of its settings."""
        found: Callable[..., Any] = getattr(
            import_module(f"enough.baselines.{self.module}"), self.settings
        )
        return found


METHODS: dict[str, Entry] = {
    "bm25": Entry("BM25", "ranked", "BM25Config", "main", 1),
    "dense": Entry("dense", "ranked", "DenseConfig", "main", 1),
    "rankgpt": Entry("RankGPT", "rankgpt", "RankGPTConfig", "main", 6),
    "icr": Entry("ICR", "icr", "ICRConfig", "main", 4, "reranker"),
    "ic-ralm": Entry("IC-RALM", "ic_ralm", "ICRALMConfig", "main", 7, "generator"),
    "replug": Entry("REPLUG", "replug", "REPLUGConfig", "main", 5, "generator"),
    "rspg-pre": Entry("RSPG-Pre", "rspg", "RSPGConfig", "main", 3),
    "purple": Entry("PURPLE", "purple", "PURPLEConfig", "main", 1),
    "enough": Entry("ENOUGH", "controlled", "EnoughConfig", "main", 1),
    "empty": Entry("empty", "fixed", "EmptyConfig", "diagnostic"),
    "full": Entry("full", "fixed", "FullConfig", "diagnostic"),
    "fixed": Entry("fixed k", "fixed", "FixedConfig", "diagnostic"),
    "fixed-tokens": Entry("fixed tokens", "fixed", "FixedTokensConfig", "diagnostic"),
    "threshold": Entry("score threshold", "fixed", "ThresholdConfig", "diagnostic"),
    "recency": Entry("recency", "ranked", "RecencyConfig", "diagnostic"),
    "random": Entry("random", "ranked", "RandomConfig", "diagnostic"),
    "mmr": Entry("MMR", "ranked", "MMRConfig", "diagnostic"),
    "ropg-kd": Entry("ROPG-KD", "ropg", "ROPGKDConfig", "diagnostic"),
    "oracle-record": Entry("best record (oracle)", "oracles", "RecordOracleConfig", "oracle"),
    "oracle-greedy": Entry("greedy profile (oracle)", "oracles", "GreedyOracleConfig", "oracle"),
}


def method_entry(kind: str) -> Entry:
    """The entry of a kind."""
    if kind not in METHODS:
        raise UnknownNameError("method", kind, METHODS)
    return METHODS[kind]


def method_config(kind: str, table: dict[str, Any], where: str) -> Any:
    """The settings of a method from its TOML table; unknown keys are errors."""
    return from_table(table, method_entry(kind).config_type(), where)  # type: ignore[arg-type]
