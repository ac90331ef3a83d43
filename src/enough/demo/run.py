"""Label, train, aggregate, train again, compare: the commands of that name, one after the other.

In: settings and a folder. Out: `Told`, everything there is to show. Each stage goes on from what it
finds in the folder. The truth about the made-up people is looked at by `planted` alone, at the end.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from enough.controller.bundled import default_controller
from enough.controller.checkpoint import Trained
from enough.controller.labelled_folder import read_labelled
from enough.data.synthetic import World, make_world
from enough.demo.config import DemoConfig
from enough.demo.held_out import HeldOut, held_out_quality
from enough.evaluation.compare_run import Comparison, Contender, run_comparison
from enough.evaluation.oracle_study import judged, scored_requests
from enough.evaluation.planted import Planted, planted
from enough.evaluation.sufficiency import FIXED, SufficiencyRow
from enough.evaluation.workshop import Workshop
from enough.evaluation.yardstick import Yardstick
from enough.labels.folder import LabelFolder
from enough.online.policy import ControllerPolicy
from enough.online.untrained import UntrainedConfig, UntrainedSelector
from enough.progress import OnStep
from enough.protocols import Generator, Selector
from enough.teacher.components import TargetConfig
from enough.teacher.oracle_config import OracleConfig
from enough.teacher.preparation import load_stages

OURS, WARM = "ENOUGH", "ENOUGH, one round"
BUNDLED, FALLBACK = "as it comes", "untrained"


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What a demonstration found out.

    Attributes:
        world: the made-up people.
        comparison: everybody's profiles of held-out requests, scored.
        planted: what the profiles hold, by the truth.
        trained: controllers by name.
        held_out: stopping and promises of each on held-out trees, if they were asked for.
        exact: rows against the exact oracle, if they were asked for.
        labelled: (requests, states) of the first round, and of both.
        seconds: of every stage.
    """

    world: World
    comparison: Comparison
    planted: Sequence[Planted]
    trained: Mapping[str, Trained]
    held_out: Mapping[str, HeldOut]
    exact: Sequence[SufficiencyRow]
    labelled: Sequence[tuple[int, int]]
    seconds: Mapping[str, float]

    @property
    def point(self) -> TargetConfig:
        """The operating point of all controllers."""
        return self.trained[OURS].point


@dataclass(slots=True)
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.seconds[stage] = time.monotonic() - started


def run_demo(config: DemoConfig, folder: Path, on_step: OnStep) -> Told:
    """All stages, into one folder."""
    clock = _Clock()
    world = make_world(config.world)
    datasets = list(world.datasets.values())
    with clock("loading"):
        stages = load_stages(config.label.retrieval, config.label.matching)
    shop = Workshop(folder, datasets, stages, on_step)
    with clock("label"):
        first = shop.label("labels", config.label)
    with clock("train"):
        warm = shop.train(first, "warm", config.train)
    with clock("aggregate"):
        both = shop.label("both", config.label, shop.visits(first, warm, config.visited))
    with clock("train again"):
        trained = {OURS: shop.train(both, "controller", config.train), WARM: warm}
        for kind in config.kinds:
            other = dataclasses.replace(config.train, kind=kind)
            trained[f"{kind} targets"] = shop.train(both, kind, other)
    with clock("compare"):
        generator = _generator(config)
        comparison = _compare(shop, config, both, trained, generator)
        rows = comparison.rows(config.train.targets)
        found = planted(rows, world.truth)
    held_out = {}
    if config.trees:
        with clock("held-out trees"):
            wanted = dataclasses.replace(config.label, split="report", requests=config.trees)
            trees = shop.label("held-out", wanted)
            scales = trained[OURS].scales
            data = read_labelled(trees, datasets, stages.encoder, scales=scales)
            held_out = {name: held_out_quality(one, data) for name, one in trained.items()}
    exact: list[SufficiencyRow] = []
    if config.oracle:
        with clock("exact oracle"):
            exact = _exact(shop, config.oracle_config(), trained, generator)
    counted = [_counted(path) for path in (first, both)]
    return Told(world, comparison, found, trained, held_out, exact, counted, clock.seconds)


def _generator(config: DemoConfig) -> Generator:
    from enough.generators.loading import load_configured  # noqa: PLC0415 (heavy)
    from enough.generators.score_cache import CachedGenerator  # noqa: PLC0415

    return CachedGenerator(load_configured(config.label.generator))


def _compare(
    shop: Workshop,
    config: DemoConfig,
    labels: Path,
    trained: Mapping[str, Trained],
    generator: Generator,
) -> Comparison:
    encoder = shop.stages.encoder
    contenders = [
        Contender(name, ControllerPolicy(one, encoder), one.point) for name, one in trained.items()
    ]
    others: dict[str, Selector] = {FALLBACK: UntrainedSelector(encoder, UntrainedConfig())}
    bundled = default_controller(
        encoder=encoder.fingerprint, tokenizer=generator.tokenizer.fingerprint
    )
    if bundled is not None:
        others[BUNDLED] = ControllerPolicy(bundled, encoder)
    return run_comparison(
        shop.datasets,
        Yardstick.of_labels(labels),
        contenders,
        stages=shop.stages,
        generator=generator,
        config=config.compare,
        others=others,
        on_step=shop.on_step,
    )


def _exact(
    shop: Workshop, config: OracleConfig, trained: Mapping[str, Trained], generator: Generator
) -> list[SufficiencyRow]:
    scored = scored_requests(shop.datasets, config, shop.stages, generator, shop.on_step)
    policies = {name: ControllerPolicy(one, shop.stages.encoder) for name, one in trained.items()}
    return judged(scored, dict(trained[OURS].scales), config, {**FIXED, **policies})


def _counted(labels: Path) -> tuple[int, int]:
    trees = [tree for part in LabelFolder(labels).read() for tree in part.trees]
    return len(trees), sum(len(tree.lengths) for tree in trees)
