"""Long-horizon backups within the sampled tree (Eq. best-leaf), three kinds.

In: a tree's profiles with parent pointers, and a value to choose leaves by. Out: for every node the
leaf that a continuation from it ends at. All three components of a target are those of one leaf.

- hindsight: the leaf with the highest J, reference known: the paper's.
- myopic: the node itself, as if STOP followed at once.
- crossfit: the leaf that predictions made without this request's reference would choose; its
  realised components are the target. Unbiased where the paper's maximum is optimistic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from enough.teacher.components import Components, TargetConfig
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.utility import Values

Kind = Literal["hindsight", "myopic", "crossfit"]
Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """R_i for every node of one tree, n of them.

    A node S ⊕ d is both a state and the action d at its parent S. As an action its target is the
    components of `leaf`; as a state STOP's target is its own components. A root below a node is a
    labelled action there, too, so a state may have fewer or more labelled actions than J.

    Attributes:
        parent: the state at which the node is a labelled action, or -1, [n].
        own: (g, p, c) of the node itself: the target of STOP there, [n, 3].
        best: (g, p, c) of its leaf: the target of the action that leads to it, [n, 3].
        leaf: index of that leaf, [n].
        is_expanded: the state has labelled record actions, [n].
        is_fully_expanded: and they are all of its feasible ones, [n].
        stop_margin: R_net(s, STOP) minus that of the labelled action that looks best (to the
            reference, or to the predictions of a crossfit); NaN without one, [n].
        is_specificity_known: of the node itself, see `Components`; a leaf's is at `leaf`, [n].
    """

    parent: NDArray[np.int32]
    own: NDArray[np.float32]
    best: NDArray[np.float32]
    leaf: Index
    is_expanded: NDArray[np.bool_]
    is_fully_expanded: NDArray[np.bool_]
    stop_margin: NDArray[np.float32]
    is_specificity_known: NDArray[np.bool_]


def best_leaves(parents: NDArray[np.int32], lengths: NDArray[np.uint8], value: Values) -> Index:
    """For every node the best of itself and all it leads to; ties stay with the shorter.

    Args:
        parents: index of the node without its last record, or -1, [n].
        lengths: records of each node, [n].
        value: what leaves are compared by, [n].
    """
    leaf = np.arange(len(parents))
    best = np.array(value, np.float64)
    for depth in range(int(lengths.max(initial=0)), 0, -1):
        at = np.flatnonzero((lengths == depth) & (parents >= 0))
        # Children of one parent side by side, the best first, of equals the first in order.
        ranked = at[np.lexsort((at, -best[at], parents[at]))]
        above, first = np.unique(parents[ranked], return_index=True)
        winner = ranked[first]
        better = best[winner] > best[above]  # a tie is STOP's
        leaf[above[better]] = leaf[winner[better]]
        best[above[better]] = best[winner[better]]
    return leaf


def back_up(
    tree: ScoredTree,
    components: Components,
    point: TargetConfig,
    kind: Kind = "hindsight",
    predicted: Values | None = None,
) -> Targets:
    """Targets of one tree.

    Args:
        tree: the profiles.
        components: normalised, of each profile.
        point: β and λ.
        kind: how a leaf is chosen.
        predicted: for "crossfit", what each profile is expected to be worth, [n].
    """
    if (predicted is None) == (kind == "crossfit"):
        raise ValueError("predictions belong to crossfit, and crossfit needs them")
    net = components.net(point)
    parents = tree.parents
    leaf = np.arange(len(parents))
    if kind != "myopic":
        leaf = best_leaves(parents, tree.lengths, net if predicted is None else predicted)
    own = np.stack([components.gain, components.specificity, components.cost], axis=1)
    chosen_by = net if predicted is None else predicted
    margin, count = _margins(parents, net, chosen_by[leaf], net[leaf])
    return Targets(
        parent=parents,
        own=own.astype(np.float32),
        best=own[leaf].astype(np.float32),
        leaf=leaf,
        is_expanded=count > 0,
        is_fully_expanded=(count > 0) & (count == feasible_actions(tree).sum(axis=1)),
        stop_margin=margin.astype(np.float32),
        is_specificity_known=components.is_specificity_known,
    )


def _margins(
    parents: NDArray[np.int32], own_net: Values, chosen_by: Values, action_net: Values
) -> tuple[Values, Index]:
    """The teacher's stop margin at every state, and how many labelled record actions it has.

    The action is the best one by `chosen_by`, its worth what is realised. Where predictions choose
    it, the highest realised value would bring back the optimism that they are there to avoid.
    """
    actions = np.flatnonzero(parents >= 0)
    count = np.bincount(parents[actions], minlength=len(parents))
    ranked = actions[np.lexsort((actions, -chosen_by[actions], parents[actions]))]
    states, first = np.unique(parents[ranked], return_index=True)
    margin = np.full(len(parents), np.nan)
    margin[states] = own_net[states] - action_net[ranked[first]]
    return margin, count


def feasible_actions(tree: ScoredTree) -> NDArray[np.bool_]:
    """A(s) without STOP for every profile: no repeat, no overflow, horizon kept, [n, M]."""
    of, n = tree.of, len(tree.lengths)
    tokens = np.array(of.record_tokens, np.int64)  # [M]
    owner = np.repeat(np.arange(n), tree.lengths)
    used = np.zeros((n, len(tokens)), np.bool_)
    used[owner, tree.places] = True
    room = of.max_profile_tokens - used @ tokens  # [n]
    is_open: NDArray[np.bool_] = ~used & (tokens[None] <= room[:, None])
    return is_open & (tree.lengths < of.max_records)[:, None]
