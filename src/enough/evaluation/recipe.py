"""What an evaluation runs: methods, tasks and seeds, as one TOML file has them.

In: a file. Out: a `Recipe`. Everything but the methods' own tables is shared by all methods, so
that pools, prompts, generator, leakage controls and users are the same for everybody.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from enough.baselines.controlled import EnoughConfig
from enough.baselines.registry import METHODS, Entry, method_config, method_entry
from enough.baselines.tools import TrainableConfig
from enough.config import from_table, read_toml, require_at_least
from enough.controller.train_config import TrainConfig
from enough.data.splits import SliceConfig
from enough.data.synthetic import WorldConfig
from enough.errors import ConfigError, UnknownNameError
from enough.fleet.config import EngineConfig
from enough.generators.config import GeneratorConfig
from enough.labels.config import LabelConfig
from enough.matching.matcher import MatchConfig
from enough.retrieval.pools import RetrievalConfig
from enough.teacher.components import TargetConfig
from enough.teacher.proposals import SearchConfig

Decoding = Literal["free", "labels"]
_LEARNT_FROM = ("train", "tune", "label", "select")
_OURS = "enough"
_SEED = "{seed}"  # in the name of a folder


@dataclass(frozen=True, slots=True)
class EvaluateConfig:
    """What all methods of an evaluation share.

    Attributes:
        data: folders with logs or LaMP files; none: the made-up people of `world`.
        split: whose requests are reported.
        requests: per task, drawn at random; 0 takes all.
        seeds: every method that learns is trained once for each, on the same labels.
        lessons: requests per task that methods are trained on, and as many to choose on; 0: all.
        rounds: of labels for ENOUGH; the second adds the states its first controller visits.
        max_records: K_max.
        batched: write the answers of methods with a single call in batches: much faster on a GPU,
            but their seconds of generation are then shares of a batch.
        decoding: "labels" answers tasks with a closed answer set by scoring the set; "free" writes.
        slots: "all" measures specificity on every slot of a profile, "one" on a sampled one.
        against: the method whose lead over each other one is tested.
        reranker: the language model of RankGPT and ICR; the generator itself without one.
        targets: the operating point β, λ of ENOUGH and of J.
        search, train: of ENOUGH's own labels and controller.
        engine: who answers cells and makes labels; no answer depends on it.
    """

    data: tuple[Path, ...] = ()
    split: str = "report"
    requests: int = 50
    seeds: tuple[int, ...] = (0, 1, 2)
    lessons: int = 0
    rounds: Literal[1, 2] = 2
    max_records: int = 10
    batched: bool = False
    decoding: Decoding = "free"
    slots: Literal["one", "all"] = "all"
    against: str = _OURS
    engine: EngineConfig = field(default_factory=EngineConfig)
    world: WorldConfig = field(default_factory=WorldConfig)
    slices: SliceConfig = field(default_factory=SliceConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    matching: MatchConfig = field(default_factory=MatchConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)
    reranker: GeneratorConfig | None = None
    targets: TargetConfig = field(default_factory=TargetConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        require_at_least(self, {"requests": 0, "lessons": 0, "max_records": 1})
        if not self.seeds or len(set(self.seeds)) < len(self.seeds) or min(self.seeds) < 0:
            raise ConfigError("seeds must name at least one number, each once, none negative")
        if self.split in _LEARNT_FROM:
            raise ConfigError(f"split must not be {self.split!r}: methods learn or choose there")

    @property
    def label(self) -> LabelConfig:
        """How ENOUGH's labels are made: with what all methods share."""
        return LabelConfig(
            split="label",
            requests=self.lessons,
            slices=self.slices,
            retrieval=self.retrieval,
            generator=self.generator,
            matching=self.matching,
            search=self.search,
            targets=self.targets,
            engine=self.engine,
        )

    def training(self, seed: int) -> TrainConfig:
        """How ENOUGH's controller of one run is trained."""
        return dataclasses.replace(self.train, seed=seed, targets=self.targets)


@dataclass(frozen=True, slots=True)
class MethodLine:
    """One [[methods]] table.

    Attributes:
        name: of its rows; the kind, unless given.
        kind: a name of `baselines.registry.METHODS`.
        settings: its own.
        folder: where it was trained by `enough train --method`, "{seed}" standing for the seed of
            a run; None has it trained in the run.
    """

    name: str
    kind: str
    settings: Any
    folder: Path | None = None

    @property
    def has_seeds(self) -> bool:
        """Whether every run has a folder of its own."""
        return self.folder is not None and _SEED in str(self.folder)

    def folder_of(self, seed: int) -> Path | None:
        """Where it was trained for one run."""
        return None if self.folder is None else Path(str(self.folder).replace(_SEED, str(seed)))

    @property
    def entry(self) -> Entry:
        """What the registry knows of it."""
        return method_entry(self.kind)


@dataclass(frozen=True, slots=True)
class Recipe:
    """An evaluation: what is shared, and who takes part."""

    config: EvaluateConfig
    methods: tuple[MethodLine, ...]


def load_recipe(path: Path) -> Recipe:
    """Read a recipe; unknown keys, kinds and wrong types are errors that name the place."""
    table = read_toml(path)
    lines = table.pop("methods", [])
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        raise ConfigError(f"{path}: methods must be [[methods]] tables")
    methods = tuple(_line(line, f"{path}: methods[{i}]") for i, line in enumerate(lines))
    config = from_table(table, EvaluateConfig, str(path))
    _check_names(methods, path)
    _check_open(config, methods, path)
    if config.against != _OURS and config.against not in {line.name for line in methods}:
        raise ConfigError(f"{path}: against: no method is named {config.against!r}")
    return Recipe(config, methods)


def _line(table: dict[str, Any], where: str) -> MethodLine:
    kind, name, folder = (table.pop(key, None) for key in ("kind", "name", "folder"))
    if not isinstance(kind, str):
        raise ConfigError(f"{where}: the key 'kind' is missing; it names a method")
    if kind not in METHODS:
        raise UnknownNameError(f"method in {where}", kind, METHODS)
    if name is not None and not (isinstance(name, str) and _is_plain(name)):
        raise ConfigError(f"{where}: name must be letters, digits, '.', '-' or '_', not {name!r}")
    settings = method_config(kind, table, where)
    if folder is None:
        return MethodLine(name or kind, kind, settings)
    if not isinstance(folder, str) or not isinstance(settings, TrainableConfig | EnoughConfig):
        raise ConfigError(f"{where}: folder names where a method that learns was trained")
    return MethodLine(name or kind, kind, settings, Path(folder))


def _is_plain(name: str) -> bool:
    return bool(name) and name[0] not in "-." and all(c.isalnum() or c in "-._" for c in name)


def _check_open(config: EvaluateConfig, methods: Iterable[MethodLine], path: Path) -> None:
    """Refuse, before anything is spent, a method that looks into a model which runs elsewhere."""
    models = {"generator": config.generator, "reranker": config.reranker or config.generator}
    for line in methods:
        if (what := line.entry.looks_into) is not None and models[what].is_elsewhere:
            raise ConfigError(
                f"{path}: {line.name} looks into the {what}, which a server or vLLM does not "
                "show: leave the method out, or name a model that runs here"
                + (" as [reranker]" if what == "reranker" else "")
            )


def _check_names(methods: Iterable[MethodLine], path: Path) -> None:
    seen: set[str] = set()
    for line in methods:
        if line.name in seen:
            raise ConfigError(f"{path}: two methods are named {line.name!r}; give one a name")
        seen.add(line.name)
    if not seen:
        raise ConfigError(f"{path}: names no method; add [[methods]] tables")
