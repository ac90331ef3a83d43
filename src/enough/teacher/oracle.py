"""The exact oracle: of a small pool every ordered profile is scored, so the best is known.

In: a case cut down to M' candidates, and a function that scores. Out: a tree of all legal ordered
profiles of at most K' records (517 of six candidates), and from it U*, J*, the optimal values V*
and Q* [bellman] and the minimal sufficient profile [msp]. It is the bounded search with nothing
bounded; a bounded one of the same pool can then be played again without a generator.

The profile of J* and the minimal sufficient one may differ: the former gives up utility where that
saves tokens worth more, the latter saves any token that costs at most ε.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from enough.prompts.profile_sequences import Profile
from enough.teacher.backup import Index, best_leaves
from enough.teacher.case import Case
from enough.teacher.components import Components, Scale, TargetConfig, scaled_components
from enough.teacher.known_scores import known_scores
from enough.teacher.oracle_config import OracleConfig
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.search import converse
from enough.teacher.supervision import ScoreCall, Subject, TeacherConfig, supervise, supervise_one
from enough.teacher.utility import Values, utility


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """All there is to know of one request, for n profiles in the tree's order.

    Attributes:
        tree: every legal profile.
        node_of: profile -> its index.
        utility: U, [n].
        net: J, [n]. As a state's, Q*(s, STOP).
        leaf: the best profile that each one can become; itself where STOP is optimal, [n].
        minimal: index of the minimal sufficient profile.
        epsilon: for which it is that.
    """

    tree: ScoredTree
    node_of: dict[Profile, int]
    utility: Values
    net: Values
    leaf: Index
    minimal: int
    epsilon: float

    @property
    def value(self) -> Values:
        """V* of every state, which is Q* of the action that leads to it, [n]  [bellman]."""
        return self.net[self.leaf]

    @property
    def best(self) -> int:
        """Index of the profile of J*; of equals the one that Proposition 1 ends at."""
        return int(self.leaf[0])


def reduced(case: Case, size: int) -> Case:
    """The case with the first `size` candidates of its pool only."""
    return replace(
        case,
        pool=case.pool[:size],
        controls=case.controls[:size],
        recency=tuple(place for place in case.recency if place < size),
        diversity=tuple(place for place in case.diversity if place < size),
        likeness=case.likeness[:size, :size],
        visited=tuple(profile for profile in case.visited if max(profile, default=0) < size),
    )


def exact_tree(subject: Subject, config: OracleConfig, score: ScoreCall) -> ScoredTree:
    """Every legal profile of one request, scored."""
    return supervise([subject], config.exhaustive, score)[0].tree


def exact_values(
    tree: ScoredTree, components: Components, point: TargetConfig, epsilon: float
) -> Exact:
    """Optimal values on a complete tree, for one (β, λ)."""
    net = components.net(point)
    return Exact(
        tree=tree,
        node_of={profile: node for node, profile in enumerate(tree.profiles)},
        utility=utility(components.gain, components.specificity, point.beta),
        net=net,
        leaf=best_leaves(tree.parents, tree.lengths, net),
        minimal=minimal_sufficient(components, point.beta, epsilon),
        epsilon=epsilon,
    )


def minimal_sufficient(components: Components, beta: float, epsilon: float) -> int:
    """Index of the cheapest profile with U ≥ U* − ε  [msp].

    Of equally cheap ones the more useful, of equally useful ones the first in the tree's order.
    """
    values = utility(components.gain, components.specificity, beta)
    enough = np.flatnonzero(values.max() - values <= epsilon)
    ranked = np.lexsort((enough, -values[enough], components.cost[enough]))
    return int(enough[ranked[0]])


def greedy(exact: Exact, action_values: Values) -> int:
    """Where it leads to take the best action at every state, ties resolved in favour of STOP.

    Args:
        exact: the tree and what STOP is worth at each state.
        action_values: what the action that leads to each node is worth: `exact.value` makes this
            the policy of Proposition 1, `exact.net` a myopic one, [n].
    """
    parents, node = exact.tree.parents, 0
    while True:
        children = np.flatnonzero(parents == node)
        best = action_values[children].max(initial=-np.inf)
        if not best > exact.net[node]:
            return node
        node = int(children[action_values[children].argmax()])


def bounded_choice(
    exact: Exact, subject: Subject, teacher: TeacherConfig, scale: Scale, point: TargetConfig
) -> Profile:
    """The leaf that a bounded teacher's targets point to from the empty profile.

    Nothing is scored: all that the search asks for is in the exact tree, of the same slots or more.
    """
    known = known_scores(exact.tree, subject.space.case)
    tree = converse(supervise_one(subject, teacher), lambda _: known).tree
    net = scaled_components(tree, scale).net(point)
    return tree.profiles[int(best_leaves(tree.parents, tree.lengths, net)[0])]
