"""Labelled requests as the controller learns from them: states in rows, targets beside them.

In: features of a request, its scored tree and the targets of one backup. Out: `StateRows`, from
which batches are drawn. Every profile of the tree is a state whose STOP is labelled; some have
labelled record actions, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.features import PoolFeatures
from enough.prompts.prompter import L_REF
from enough.protocols import Floats
from enough.teacher.backup import Targets, feasible_actions
from enough.teacher.components import Components
from enough.teacher.scored_tree import ScoredTree

_HORIZON = 10.0  # horizons are given in units of the paper's K_max


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRequest:
    """A request to learn from.

    Attributes:
        features: what the controller sees.
        tree: its scored profiles; places are those of the features.
        components: normalised, of each profile.
    """

    features: PoolFeatures
    tree: ScoredTree
    components: Components

    @property
    def name(self) -> str:
        """Among the requests of all tasks, as labels have it."""
        return self.tree.of.name


@dataclass(frozen=True, slots=True, eq=False)
class StateRows:
    """n states of one request with N candidates.

    Attributes:
        chosen: places in order, padded with 0, [n, K].
        length: [n].
        budget: cost so far, horizon left, room left, [n, 3].
        stop_target: (g, p, c) of ending there, [n, 3].
        is_known: whether the specificity of that is known, [n].
        expanded: rows that have labelled record actions, [e].
        action_target: of these, [e, N, 3].
        is_labelled: which actions have a target, [e, N].
        is_action_known: whether its specificity is known, [e, N].
        is_feasible: which actions may be taken, [e, N].
        is_full: all feasible actions are labelled, [e].
        stop_margin: the teacher's, [e].
    """

    chosen: NDArray[np.int64]
    length: NDArray[np.int64]
    budget: Floats
    stop_target: Floats
    is_known: NDArray[np.bool_]
    expanded: NDArray[np.int64]
    action_target: Floats
    is_labelled: NDArray[np.bool_]
    is_action_known: NDArray[np.bool_]
    is_feasible: NDArray[np.bool_]
    is_full: NDArray[np.bool_]
    stop_margin: Floats


def budget_features(cost: Floats, left: Floats, room: Floats) -> Floats:
    """b_t: cost over L_ref, records that may still come over 10, room over L_ref capped at 4."""
    return np.stack([cost, left / _HORIZON, np.minimum(room / L_REF, 4.0) / 4], axis=-1).astype(
        np.float32
    )


def state_rows(request: LabelledRequest, targets: Targets) -> StateRows:
    """All states of a labelled request."""
    tree, features = request.tree, request.features
    n, size = len(tree.lengths), len(features.tokens)
    length = tree.lengths.astype(np.int64)
    chosen = np.zeros((n, max(int(length.max(initial=0)), 1)), np.int64)
    inside = np.arange(chosen.shape[1])[None] < length[:, None]
    chosen[inside] = tree.places
    spent = tree.cost * L_REF
    room = (features.room - spent).astype(np.float32)
    expanded = np.flatnonzero(targets.is_expanded)
    row_of = np.full(n, -1, np.int64)
    row_of[expanded] = np.arange(len(expanded))
    child = np.flatnonzero(targets.parent >= 0)
    at = (row_of[targets.parent[child]], chosen[child, length[child] - 1])
    action_target = np.zeros((len(expanded), size, 3), np.float32)
    is_labelled = np.zeros((len(expanded), size), np.bool_)
    is_action_known = np.zeros((len(expanded), size), np.bool_)
    action_target[at] = targets.best[child]
    is_labelled[at] = True
    is_action_known[at] = targets.is_specificity_known[targets.leaf[child]]
    return StateRows(
        chosen=chosen,
        length=length,
        budget=budget_features(
            tree.cost.astype(np.float32), (features.max_records - length).astype(np.float32), room
        ),
        stop_target=targets.own,
        is_known=targets.is_specificity_known,
        expanded=expanded,
        action_target=action_target,
        is_labelled=is_labelled,
        is_action_known=is_action_known,
        is_feasible=feasible_actions(tree)[expanded],
        is_full=targets.is_fully_expanded[expanded],
        stop_margin=targets.stop_margin[expanded],
    )
