"""Where the search starts and which actions it tries: the state-proposal mixture.

In: a case and its budget. Out: root profiles, whose lengths are stratified from 1 to K_i, and for a
deeper state J actions: high by the retriever, unlike what is chosen, and uniform. Each answer is a
function of the state alone, so the order of asking changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from enough.config import require_at_least
from enough.prompts.profile_sequences import Profile
from enough.teacher.space import SearchSpace

Source = Literal["retriever", "recency", "diversity", "random"]
_ROOTS, _ACTIONS = 0, 1  # purposes of random streams


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Budgets of the bounded tree.

    Attributes:
        max_records: K_max, the horizon.
        roots: where roots beside the empty profile come from, one root for each entry.
        actions: J, tried at states that are no roots.
        width: W, prefixes kept per depth below each root.
        levels: how many are searched below each root; 0: to the horizon.
        seed: for lengths of roots, random subsets, uniform actions and sampled slots.
    """

    max_records: int = 10
    roots: tuple[Source, ...] = ("retriever", "recency", "diversity", "random")
    actions: int = 8
    width: int = 4
    levels: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"max_records": 1, "actions": 1, "width": 1, "levels": 0, "seed": 0}
        require_at_least(self, least, "search.")


def root_profiles(space: SearchSpace, config: SearchConfig) -> list[Profile]:
    """Distinct roots of the search's own: the empty profile and one of each source."""
    rng = space.random(config.seed, _ROOTS)
    roots: list[Profile] = [()]
    horizon, count = space.budget.max_records, len(config.roots)
    for stratum, which in enumerate(rng.permutation(count)):
        drawn = 1 + horizon * (stratum + rng.random()) / count
        order = _order(space, config.roots[which], rng)
        roots.append(_prefix(space, order, min(int(drawn), horizon)))
    return list(dict.fromkeys(roots))


def visited_profiles(space: SearchSpace) -> list[Profile]:
    """Distinct further roots: what was visited, as far as it fits."""
    fitting = (_prefix(space, profile, len(profile)) for profile in space.case.visited)
    return list(dict.fromkeys(fitting))


def _order(space: SearchSpace, source: Source, rng: np.random.Generator) -> Sequence[int]:
    case = space.case
    orders: dict[Source, Sequence[int]] = {
        "retriever": range(len(case.pool)),
        "recency": case.recency,
        "diversity": case.diversity,
        "random": rng.permutation(len(case.pool)).tolist(),
    }
    return orders[source]


def _prefix(space: SearchSpace, order: Sequence[int], length: int) -> Profile:
    """The first `length` places of an order, those left out that would not fit."""
    chosen: Profile = ()
    for place in order:
        if len(chosen) < length and place in space.feasible(chosen):
            chosen = (*chosen, place)
    return chosen


def proposed_actions(space: SearchSpace, config: SearchConfig, profile: Profile) -> list[int]:
    """At most J feasible places: a third by the retriever, a third unlike, a third uniform."""
    rest = space.feasible(profile)
    if len(rest) <= config.actions:
        return rest
    high = rest[: -(-config.actions // 3)]
    chosen = list(high)
    for _ in range(-(-(config.actions - len(high)) // 2)):
        known = [*profile, *chosen[len(high) :]]
        still_open = [place for place in rest if place not in chosen]
        chosen.append(_least_like(space, known, still_open))
    left = [place for place in rest if place not in chosen]
    rng = space.random(config.seed, _ACTIONS, *profile)
    drawn = rng.choice(len(left), config.actions - len(chosen), replace=False)
    return sorted([*chosen, *(left[i] for i in drawn)])


def _least_like(space: SearchSpace, known: Sequence[int], still_open: Sequence[int]) -> int:
    """The place whose nearest record among the known ones is farthest."""
    nearest = space.case.likeness[np.ix_(still_open, known)].max(axis=1)
    return still_open[int(nearest.argmin())]
