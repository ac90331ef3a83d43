"""Targets on disk: for one (β, λ), one safetensors file beside each file of trees.

Columns, aligned with the nodes of the tree file of the same name:

| column | type | what |
|---|---|---|
| parent | i32 [n] | the node's state, counted within its request; -1 where it is no action |
| own | f32 [n, 3] | ḡ, p̄, c of the node: the target of STOP there, and of the myopic backup |
| best | f32 [n, 3] | ḡ, p̄, c of its best leaf: the target of the action that leads to the node |
| leaf | i32 [n] | that leaf, counted within its request |
| is_fully_expanded | bool [n] | all feasible actions of the state are labelled |
| stop_margin | f32 [n] | R_net(STOP) minus the best action's; NaN where none is labelled |
| is_specificity_known | bool [n] | false where no record of the profile has controls |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from enough.errors import DataError
from enough.labels.folder import LabelFolder
from enough.labels.tree_files import Part, load_columns, read_part, save_columns
from enough.run_folders import read_json
from enough.teacher.backup import Targets, back_up
from enough.teacher.components import Scale, TargetConfig, scaled_components
from enough.teacher.scored_tree import ScoredTree

FORMAT = 1


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTree:
    """A request's tree with its targets."""

    tree: ScoredTree
    targets: Targets


@dataclass(frozen=True, slots=True)
class TargetCounts:
    """How much was labelled.

    Attributes:
        states: profiles at which at least STOP is labelled: all of them.
        expanded: those with labelled record actions.
        fully_expanded: those whose feasible actions are all labelled.
        actions: labelled (state, record) pairs.
        stops: fully expanded states at which the teacher stops.
    """

    states: int = 0
    expanded: int = 0
    fully_expanded: int = 0
    actions: int = 0
    stops: int = 0

    def __add__(self, other: TargetCounts) -> TargetCounts:
        return TargetCounts(
            self.states + other.states,
            self.expanded + other.expanded,
            self.fully_expanded + other.fully_expanded,
            self.actions + other.actions,
            self.stops + other.stops,
        )


def write_targets(
    path: Path, part: Part, scales: dict[str, Scale], point: TargetConfig
) -> TargetCounts:
    """Back up every tree of a part with the reference known, and write the result."""
    found = [
        back_up(tree, scaled_components(tree, scales[tree.of.task]), point) for tree in part.trees
    ]
    columns = {
        "parent": np.concatenate([np.zeros(0, np.int32), *(t.parent for t in found)]),
        "own": np.concatenate([np.zeros((0, 3), np.float32), *(t.own for t in found)]),
        "best": np.concatenate([np.zeros((0, 3), np.float32), *(t.best for t in found)]),
        "leaf": np.concatenate([np.zeros(0, np.int32), *(t.leaf.astype(np.int32) for t in found)]),
        "is_fully_expanded": np.concatenate(
            [np.zeros(0, np.bool_), *(t.is_fully_expanded for t in found)]
        ),
        "stop_margin": np.concatenate([np.zeros(0, np.float32), *(t.stop_margin for t in found)]),
        "is_specificity_known": np.concatenate(
            [np.zeros(0, np.bool_), *(t.is_specificity_known for t in found)]
        ),
    }
    save_columns(path, columns, {"format": FORMAT, "beta": point.beta, "lambda": point.lambda_})
    return TargetCounts(
        states=sum(len(t.parent) for t in found),
        expanded=sum(int(t.is_expanded.sum()) for t in found),
        fully_expanded=sum(int(t.is_fully_expanded.sum()) for t in found),
        actions=sum(int((t.parent >= 0).sum()) for t in found),
        stops=sum(int((t.is_fully_expanded & (t.stop_margin >= 0)).sum()) for t in found),
    )


def read_targets(folder: Path, point: TargetConfig) -> Iterator[LabelledTree]:
    """Labelled trees of a finished run, one request at a time."""
    labels = LabelFolder(folder)
    targets = labels.targets(point)
    if not (targets / "manifest.json").exists():
        raise DataError(
            f"no targets for beta {point.beta:g} and lambda {point.lambda_:g}; `enough label` with "
            "these makes them from what is there",
            path=folder,
        )
    scales = {
        task: Scale(**one) for task, one in read_json(targets / "manifest.json")["scales"].items()
    }
    if scales != labels.scales():
        raise DataError("made with other scales; run `enough label` for them again", path=targets)
    for path in labels.finished_parts():
        part = read_part(path)
        columns, header = load_columns(targets / path.name)
        if header.get("format") != FORMAT:
            raise DataError(f"target format {header.get('format')}", path=targets / path.name)
        start = 0
        for tree in part.trees:
            rows = slice(start, start + len(tree.lengths))
            start = rows.stop
            margin = columns["stop_margin"][rows]
            yield LabelledTree(
                tree,
                Targets(
                    parent=columns["parent"][rows],
                    own=columns["own"][rows],
                    best=columns["best"][rows],
                    leaf=columns["leaf"][rows].astype(np.int64),
                    is_expanded=~np.isnan(margin),
                    is_fully_expanded=columns["is_fully_expanded"][rows],
                    stop_margin=margin,
                    is_specificity_known=columns["is_specificity_known"][rows],
                ),
            )
