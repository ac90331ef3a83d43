"""Whether useful records raise the likelihood more than others do, under an adapter.

In: an adapter. Out: per task and over all, the mean gain of single records by their role in the
made-up world (seed 0, users of "dev", whom no bundled adapter was tuned on), and the AUC of useful
ones against irrelevant and conflicting ones. Half a minute on a GPU.

    python studies/adapter_auc.py synthetic
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enough.data.synthetic import Role, World, WorldConfig, make_world
from enough.generators.config import GeneratorConfig
from enough.generators.hf import HFGenerator
from enough.prompts.prompter import Prompter

Gains = dict[Role, list[float]]


def gains(world: World, task: str, generator: HFGenerator, limit: int) -> Gains:
    """What every single record adds to the mean log-likelihood of the reference, by role."""
    dataset, truth = world.datasets[task], world.truth
    prompter = Prompter(generator.tokenizer)
    asked = [e for e in dataset.splits["dev"] if truth.kind_of(e.request.id).has_useful]
    found: Gains = {role: [] for role in Role}
    for example in asked[: limit or None]:
        request = example.request
        legal = truth.asked[request.id].roles
        records = [r for r in dataset.history(request) if r.id in legal]
        sequences = [
            prompter.sequence(example),
            *(prompter.sequence(example, [r]) for r in records),
        ]
        empty, *scores = generator.score(sequences).tolist()
        for record, score in zip(records, scores, strict=True):
            found[truth.role_of(request.id, record.id, given=())].append(score - empty)
    return found


def line(name: str, found: Gains) -> str:
    """Means and AUC, in words."""
    useful = np.array(found[Role.USEFUL])
    others = np.array(found[Role.IRRELEVANT] + found[Role.CONFLICTING])
    return (
        f"{name}: {len(useful)} useful {useful.mean():+.3f}, {len(others)} others "
        f"{others.mean():+.3f}, AUC {auc(useful, others):.3f}\n"
    )


def auc(higher: NDArray[np.float64], lower: NDArray[np.float64]) -> float:
    """How often one is above the other; a tie counts half."""
    difference = higher[:, None] - lower[None]
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def main() -> None:
    """A line per task, and one over all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("adapter", type=Path, help="a folder, or the name of a bundled one")
    parser.add_argument("--requests", type=int, default=0, help="per task; 0: all")
    given = parser.parse_args()
    generator = HFGenerator.load(GeneratorConfig(adapter=given.adapter, dtype="float32"))
    world = make_world(WorldConfig())
    pooled: Gains = {role: [] for role in Role}
    for task in world.datasets:
        found = gains(world, task, generator, given.requests)
        for role, values in found.items():
            pooled[role] += values
        sys.stdout.write(line(task, found))
        sys.stdout.flush()
    sys.stdout.write(line("all", pooled))


if __name__ == "__main__":
    main()
