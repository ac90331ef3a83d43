"""The bounded counterfactual tree (Algorithm 1), as a conversation with whoever can score.

In: a case. The search yields the profiles whose likelihood it wants next and is sent their values;
at last it returns every profile it came by. At roots all feasible actions are expanded, deeper J of
them, and of each depth below a root W prefixes are kept.

Prefixes are kept by likelihood, not by U or J: then the tree depends on no β, λ or scale, labels
for other ones are those a fresh search would give, and specificity is scored in one go at the end.
(Measured on the exhaustive scores: keeping by U instead lowers the regret by .001.)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from enough.prompts.profile_sequences import Profile
from enough.teacher.proposals import (
    SearchConfig,
    proposed_actions,
    root_profiles,
    visited_profiles,
)
from enough.teacher.space import SearchSpace

Scores = Mapping[Profile, float]
Search = Generator[list[Profile], Scores, tuple[dict[Profile, float], int]]
"""Yields profiles to score, is sent scores of at least these."""


Result = TypeVar("Result")


def converse(
    talk: Generator[list[Profile], Scores, Result], answer: Callable[[list[Profile]], Scores]
) -> Result:
    """Hold a whole conversation: answer every question with scores, return what comes of it."""
    try:
        wanted = next(talk)
        while True:
            wanted = talk.send(answer(wanted))
    except StopIteration as end:
        result: Result = end.value
        return result


def bounded_tree(space: SearchSpace, config: SearchConfig) -> Search:
    """Nodes of the tree with their ℓ, each ordered prefix once, and how many are initial.

    The initial branches, roots and their children, come first; scales are calibrated on them.
    """
    growth = _Growth(space, config)
    nodes: dict[Profile, float] = {}
    wanted = growth.first_wanted
    initial = len(wanted)
    while wanted:
        scores = yield wanted
        nodes.update((profile, scores[profile]) for profile in wanted)
        wanted = growth.next_wanted(nodes)
    return nodes, initial


class _Growth:
    """The beams below all roots, one level at a time."""

    def __init__(self, space: SearchSpace, config: SearchConfig) -> None:
        self._space = space
        self._config = config
        own = root_profiles(space, config)
        visited = [profile for profile in visited_profiles(space) if profile not in own]
        roots = [*own, *visited]
        horizon = config.max_records
        below_own, below_visited = config.levels or horizon, space.case.visited_levels or horizon
        self._levels_left = [below_own] * len(own) + [below_visited] * len(visited)
        self._children = {root: _followed(root, space.feasible(root)) for root in own}
        self._children |= {root: _followed(root, self._tried(root)) for root in visited}
        self._levels = [self._children[root] for root in roots]  # the deepest below each root
        self.first_wanted = _distinct([*roots, *(p for level in self._levels for p in level)])

    def next_wanted(self, nodes: Scores) -> list[Profile]:
        """Keep W prefixes of every level and expand them, until something new is to be scored.

        A prefix that was expanded before, as a root or by another beam, keeps its children.
        """
        while any(self._levels):
            self._levels_left = [left - 1 for left in self._levels_left]
            self._levels = [
                self._grown(level, nodes) if left > 0 else []
                for level, left in zip(self._levels, self._levels_left, strict=True)
            ]
            new = [child for level in self._levels for child in level if child not in nodes]
            if new:
                return _distinct(new)
        return []

    def _tried(self, visited: Profile) -> list[int]:
        """Actions at a visited state."""
        count = self._space.case.visited_actions
        if count == 0:
            return self._space.feasible(visited)
        return proposed_actions(self._space, replace(self._config, actions=count), visited)

    def _grown(self, level: Sequence[Profile], nodes: Scores) -> list[Profile]:
        kept = sorted(level, key=lambda profile: -nodes[profile])[: self._config.width]
        for profile in kept:
            if profile not in self._children:
                actions = proposed_actions(self._space, self._config, profile)
                self._children[profile] = _followed(profile, actions)
        return [child for profile in kept for child in self._children[profile]]


def _followed(profile: Profile, places: Sequence[int]) -> list[Profile]:
    return [(*profile, place) for place in places]


def _distinct(profiles: Sequence[Profile]) -> list[Profile]:
    return list(dict.fromkeys(profiles))
