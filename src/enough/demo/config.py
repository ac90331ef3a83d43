"""The settings of a demonstration, as a TOML file has them: small enough for two cores."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from enough.config import require_at_least
from enough.controller.bundled import DEFAULT_CONTROLLER
from enough.controller.optimisation import FitConfig
from enough.controller.train_config import TrainConfig
from enough.data.splits import SliceConfig
from enough.data.synthetic import WorldConfig
from enough.errors import ConfigError
from enough.evaluation.compare_run import CompareConfig
from enough.generators.config import GeneratorConfig
from enough.labels.config import LabelConfig
from enough.matching.matcher import MatchConfig
from enough.retrieval.pools import RetrievalConfig
from enough.teacher.backup import Kind
from enough.teacher.components import TargetConfig
from enough.teacher.oracle_config import OracleConfig
from enough.teacher.proposals import SearchConfig

# The price, the generator and the controller that come with the package: training goes on from
# the latter. All were made from people of other worlds, so nobody here is needed for that.
POINT = TargetConfig(beta=0.4, lambda_=0.3)
ADAPTER = CONTROLLER = Path(DEFAULT_CONTROLLER)
SLICES = SliceConfig(tune=0.01, label=0.7, select=0.19, report=0.1)


def _small_world() -> WorldConfig:
    # Nobody of the world that the adapter was tuned on, too, or of the study on made-up people.
    return WorldConfig(seed=7, users=20, tasks=("LaMP-4",))


def _small_labels() -> LabelConfig:
    return LabelConfig(
        split="label",
        chunk=4,
        slices=SLICES,
        retrieval=RetrievalConfig(pool=6),
        generator=GeneratorConfig(adapter=ADAPTER),
        matching=MatchConfig(controls=1),
        search=SearchConfig(max_records=3, roots=(), actions=2, width=1),
        targets=POINT,
    )


def _small_training() -> TrainConfig:
    return TrainConfig(
        folds=3,
        start=CONTROLLER,
        targets=POINT,
        fit=FitConfig(steps=400, requests=16, check_every=25, patience=6),
    )


def _few_requests() -> CompareConfig:
    return CompareConfig(requests=20, lengths=(0, 1, 3), slots="one")


@dataclass(frozen=True, slots=True)
class DemoConfig:
    """What to make up, label, train and compare.

    Attributes:
        world: the made-up people.
        label: the teacher; its split must be the slice "label".
        visited: so many requests per task get a second round of labels; 0: all.
        train: the controller.
        kinds: targets that further controllers are trained on, to stand beside it.
        compare: held-out people.
        trees: so many held-out requests per task get trees, on which stopping and promises are
            measured; 0: none.
        oracle: so many held-out requests per task are searched exhaustively; 0: none.
    """

    world: WorldConfig = field(default_factory=_small_world)
    label: LabelConfig = field(default_factory=_small_labels)
    visited: int = 12
    train: TrainConfig = field(default_factory=_small_training)
    kinds: tuple[Kind, ...] = ()
    compare: CompareConfig = field(default_factory=_few_requests)
    trees: int = 0
    oracle: int = 0

    def __post_init__(self) -> None:
        require_at_least(self, {"visited": 0, "trees": 0, "oracle": 0})
        if self.label.split != "label":
            raise ConfigError('label.split must be "label": others are compared on')
        if self.label.targets != self.train.targets:
            raise ConfigError("label.targets and train.targets must be the same β and λ")

    def oracle_config(self) -> OracleConfig:
        """The exact oracle on the same people, with the same teacher."""
        return OracleConfig(
            split="dev",
            requests=self.oracle,
            retrieval=self.label.retrieval,
            generator=self.label.generator,
            matching=self.label.matching,
            search=self.label.search,
            targets=self.label.targets,
            slots="one",
        )
