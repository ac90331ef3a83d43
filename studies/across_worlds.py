"""Train on the labels of one study, judge on the trees of others: nobody in common, no new scoring.

In: the seed of a study to train on and those to judge on, and the folders that `enough demo
--config studies/synthetic.toml --seed N --out study/N` left. Out: a line per study: what the first
choice is worth, how often it is useful by the truth, what the policy realises within the trees.

    python studies/across_worlds.py study/ 1 0 2 --kind crossfit
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from enough.config import load_config
from enough.controller.checkpoint import Trained
from enough.controller.examples import LabelledRequest
from enough.controller.labelled_folder import LabelledData, read_labelled
from enough.controller.train_run import train
from enough.data.synthetic import Role, World, make_world
from enough.demo.config import DemoConfig
from enough.demo.held_out import held_out_quality
from enough.labels.encoder_of import encoder_of
from enough.labels.folder import LabelFolder
from enough.online.fast_controller import FastController
from enough.progress import silent
from enough.teacher.components import Scale

CONFIG = load_config(Path(__file__).with_name("synthetic.toml"), DemoConfig)


@dataclasses.dataclass(frozen=True, slots=True)
class First:
    """The first choice of one request: J of taking it, whether it is taken, what the truth says."""

    net: float
    retrievers: float
    is_taken: bool
    is_useful: bool
    some_are: bool


def first_choice(request: LabelledRequest, trained: Trained, world: World) -> First:
    """Every single record of a pool is in its tree, so J of the choice is known."""
    values = FastController(trained).start(request.features).values()
    best = int(values.net.argmax())
    net = request.components.net(trained.point)
    alone = {p[0]: float(net[i]) for i, p in enumerate(request.tree.profiles) if len(p) == 1}
    asked, pool = request.tree.of.request, request.tree.of.pool
    useful = [world.truth.role_of(asked, one, given=()) == Role.USEFUL for one in pool]
    return First(
        alone[best], alone[0], bool(values.net[best] > 0), useful[best], some_are=any(useful)
    )


def read(folder: Path, seed: int, scales: dict[str, Scale] | None) -> tuple[World, LabelledData]:
    """A study's people and its first round of labels."""
    world = make_world(dataclasses.replace(CONFIG.world, seed=seed))
    encoder = encoder_of(LabelFolder(folder / "labels"))
    datasets = list(world.datasets.values())
    return world, read_labelled(folder / "labels", datasets, encoder, scales=scales)


def line(name: str, trained: Trained, world: World, data: LabelledData) -> str:
    """What was found, in words."""
    found = [first_choice(one, trained, world) for one in data.requests if len(one.features.tokens)]
    quality = held_out_quality(trained, data)
    overall, stopping = quality.judged[-1], quality.stopping
    none = [one for one in found if not one.some_are]
    return (
        f"{name}: first choice {np.mean([one.net for one in found]):.3f}, with STOP "
        f"{np.mean([one.net * one.is_taken for one in found]):.3f}, retriever's first "
        f"{np.mean([one.retrievers for one in found]):.3f}; useful "
        f"{np.mean([one.is_useful for one in found if one.some_are]):.2f} where some are; stops "
        f"{np.mean([not one.is_taken for one in none]):.2f} where none is; within trees J "
        f"{overall.net:.3f}, gap {overall.gap:+.3f}; stop AUROC {stopping.auroc:.3f}, within tasks "
        f"{stopping.auroc_within_tasks:.3f}, ECE {stopping.ece:.3f}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train once, judge on every other study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", help="beginning of the folders' names; a seed follows it")
    parser.add_argument("train", type=int, help="seed of the study to train on")
    parser.add_argument("judge", type=int, nargs="+", help="seeds of those to judge on")
    parser.add_argument("--kind", default="crossfit", help="of targets")
    given = parser.parse_args(arguments)
    _, data = read(Path(f"{given.folders}{given.train}"), given.train, None)
    trained, _ = train(data, dataclasses.replace(CONFIG.train, kind=given.kind), silent)
    for seed in given.judge:
        world, others = read(Path(f"{given.folders}{seed}"), seed, trained.scales)
        sys.stdout.write(line(f"{given.kind}, {given.train} -> {seed}", trained, world, others))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
