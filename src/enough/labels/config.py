"""The settings of a labelling run, as a TOML file has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from enough.config import as_table, from_table, require_at_least
from enough.data.splits import SliceConfig
from enough.errors import ConfigError
from enough.fleet.config import EngineConfig
from enough.generators.config import GeneratorConfig
from enough.labels.folder import LabelFolder
from enough.matching.matcher import MatchConfig
from enough.retrieval.pools import RetrievalConfig
from enough.run_folders import read_json
from enough.teacher.calibration import CalibrationConfig
from enough.teacher.components import TargetConfig
from enough.teacher.proposals import SearchConfig
from enough.teacher.specificity import SpecificityConfig
from enough.teacher.supervision import TeacherConfig

_MOST_PLACES = 255  # places are stored as one byte
_LEAST = {"requests": 0, "seed": 0, "chunk": 1, "threads": 1}


@dataclass(frozen=True, slots=True)
class LabelConfig:
    """A labelling run.

    Attributes:
        split: which examples: of the data ("train") or a slice of a study ("label").
        requests: per task, drawn at random; 0 takes all.
        seed: for that draw.
        chunk: requests that are searched in step; the unit of work.
        threads: of each worker on a CPU. More may change the last bits of a likelihood.
        engine: who does the work, and how many; no label depends on it.
    """

    split: str = "train"
    requests: int = 0
    seed: int = 0
    chunk: int = 8
    threads: int = 1
    engine: EngineConfig = field(default_factory=EngineConfig)
    slices: SliceConfig = field(default_factory=SliceConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)
    matching: MatchConfig = field(default_factory=MatchConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    specificity: SpecificityConfig = field(default_factory=SpecificityConfig)
    calibration: CalibrationConfig = field(default_factory=CalibrationConfig)
    targets: TargetConfig = field(default_factory=TargetConfig)

    def __post_init__(self) -> None:
        require_at_least(self, _LEAST)
        if self.retrieval.pool > _MOST_PLACES:
            raise ConfigError(f"labels hold pools of at most {_MOST_PLACES} records")

    @property
    def teacher(self) -> TeacherConfig:
        """What a worker needs of it."""
        return TeacherConfig(self.search, self.specificity)

    @classmethod
    def of_folder(cls, folder: LabelFolder) -> LabelConfig:
        """The settings a finished folder was labelled with."""
        folder.require_finished()
        table: dict[str, Any] = read_json(folder.settings_file)["config"]
        table["generator"] = given = _without_nothing(table["generator"])
        if given["adapter"] == str(None):
            del given["adapter"]
        return from_table(table, cls, str(folder.settings_file))

    @property
    def of_likelihoods(self) -> dict[str, Any]:
        """Everything a likelihood or a tree depends on, as plain values."""
        table: dict[str, Any] = as_table(self)
        for name in ("engine", "calibration", "targets"):
            del table[name]
        table["generator"] = self.generator.of_likelihoods
        return table


def _without_nothing(table: dict[str, Any]) -> dict[str, Any]:
    """A table as TOML has it: what is None is not there."""
    return {
        key: _without_nothing(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if value is not None
    }
