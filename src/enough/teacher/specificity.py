"""Which counterfactuals a tree's specificity needs, and nothing that cannot change a label.

In: the nodes of a tree. Out: for the looked-at slots of each profile ℓ without the slot's record
and ℓ with each matched control in its place. A profile that gains nothing has specificity 0 by the
gate, so none of its slots is looked at; a leave-one-out profile that is a node is looked up.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from enough.config import require_at_least
from enough.prompts.profile_sequences import Profile
from enough.teacher.space import SearchSpace

_SLOTS, _AUDIT = 2, 3  # purposes of random streams


@dataclass(frozen=True, slots=True)
class SpecificityConfig:
    """How specificity is estimated.

    Attributes:
        slots: "one" samples a slot per profile (unbiased), "all" averages over every slot.
        audited: with "one", so many profiles of every request get all their slots looked at, from
            which the variance of the one-slot estimate is known.
    """

    slots: Literal["one", "all"] = "one"
    audited: int = 2

    def __post_init__(self) -> None:
        require_at_least(self, {"audited": 0}, "specificity.")


@dataclass(frozen=True, slots=True, eq=False)
class SlotScores:
    """What was scored for looked-at slots.

    Attributes:
        node: index of the profile in the list of nodes, [m].
        slot: r, counted from 0, [m].
        without: ℓ_i(S₋ᵣ), [m].
        controls: ℓ_i with control k in slot r, [m, K⁻].
        counts_for: whether the slot is part of the estimate of p; audits are not, [m].
    """

    node: NDArray[np.int32]
    slot: NDArray[np.uint8]
    without: NDArray[np.float32]
    controls: NDArray[np.float32]
    counts_for: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Savings:
    """Teacher calls that were not made, and why; all of them exact.

    Attributes:
        gated: profiles that gain nothing, whose K⁻ + 1 counterfactuals were not scored.
        looked_up: leave-one-out and control profiles that had been scored already.
        unmatched: profiles none of whose slots has controls.
    """

    gated: int
    looked_up: int
    unmatched: int


@dataclass(frozen=True, slots=True)
class _Slot:
    """Slot r of a node that is looked at; audits do not count for the estimate."""

    node: int
    slot: int
    counts: bool


def score_slots(
    space: SearchSpace,
    nodes: Mapping[Profile, float],
    order: Sequence[Profile],
    config: SpecificityConfig,
    seed: int,
) -> Generator[list[Profile], Mapping[Profile, float], tuple[SlotScores, Savings]]:
    """Yields all counterfactual profiles at once, is sent their scores, returns what they mean.

    Args:
        space: whose profiles they are.
        nodes: the tree's profiles with their ℓ.
        order: the profiles in the order by which slots name them.
        config: one slot or all.
        seed: for the draw.
    """
    gains = {node for node, profile in enumerate(order) if nodes[profile] > nodes[()]}
    usable = {node: slots for node in gains if (slots := _usable(space, order[node]))}
    chosen = _choose(space, usable, order, config, seed)
    variants = [_variants(space, order[one.node], one.slot) for one in chosen]
    asked = [profile for some in variants for profile in some]
    known: dict[Profile, float] = dict(nodes)
    wanted = [profile for profile in dict.fromkeys(asked) if profile not in known]
    if wanted:
        scores = yield wanted
        known.update((profile, scores[profile]) for profile in wanted)
    values = np.array([[known[p] for p in some] for some in variants], np.float32)
    values = values.reshape(len(chosen), 1 + max(map(len, space.case.controls), default=0))
    found = SlotScores(
        node=np.array([one.node for one in chosen], np.int32),
        slot=np.array([one.slot for one in chosen], np.uint8),
        without=values[:, 0],
        controls=values[:, 1:],
        counts_for=np.array([one.counts for one in chosen], np.bool_),
    )
    savings = Savings(
        gated=len(order) - 1 - len(gains),
        looked_up=len(asked) - len(wanted),
        unmatched=len(gains) - len(usable),
    )
    return found, savings


def _usable(space: SearchSpace, profile: Profile) -> list[int]:
    """Slots whose record has controls that all fit into the window in its place."""
    numbers = space.case.control_numbers
    room = space.room_after(profile)
    return [
        slot
        for slot, place in enumerate(profile)
        if numbers[place]
        and max(space.tokens[n] for n in numbers[place]) - space.tokens[place] <= room
    ]


def _variants(space: SearchSpace, profile: Profile, slot: int) -> list[Profile]:
    """S₋ᵣ, then S with each control in slot r; the other records keep their places."""
    before, place, after = profile[:slot], profile[slot], profile[slot + 1 :]
    filled = [(*before, number, *after) for number in space.case.control_numbers[place]]
    return [before + after, *filled]


def _choose(
    space: SearchSpace,
    usable: Mapping[int, list[int]],
    order: Sequence[Profile],
    config: SpecificityConfig,
    seed: int,
) -> list[_Slot]:
    """The slots to look at, of all profiles that have usable ones."""
    chosen = []
    for node in sorted(usable):
        slots = usable[node]
        if config.slots == "all":
            chosen += [_Slot(node, slot, True) for slot in slots]
        else:
            drawn = space.random(seed, _SLOTS, *order[node]).integers(len(slots))
            chosen.append(_Slot(node, slots[int(drawn)], True))
    if config.slots == "one":
        sampled = {one.node: one.slot for one in chosen}
        several = [node for node in sorted(usable) if len(usable[node]) > 1]
        audited = space.random(seed, _AUDIT).permutation(len(several))[: config.audited]
        for node in (several[i] for i in audited):
            chosen += [_Slot(node, slot, False) for slot in usable[node] if slot != sampled[node]]
    return sorted(chosen, key=lambda one: (one.node, one.slot))
