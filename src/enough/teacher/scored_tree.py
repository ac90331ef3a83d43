"""What a search found out about one request: every profile with its likelihood, nothing derived.

In: the end of a search. Out: `ScoredTree`, plain arrays from which gains, specificities, costs and
targets for any β and λ are computed without a generator. Its order is canonical: by length, then by
places, so a prefix always stands before what extends it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import L_REF
from enough.teacher.specificity import SlotScores


@dataclass(frozen=True, slots=True)
class TreeOf:
    """Whose tree it is, in names and exact tokens.

    Attributes:
        task: name of the task.
        request: id of the request.
        user: who asked.
        pool: ids of the pool's records, best first.
        retriever_scores: one for each of them.
        record_tokens: exact increment of each.
        controls: for each of them (owner, id) of its matched records, or none.
        empty_tokens: of the prompt without a profile.
        reference_tokens: of the reference.
        max_records: K_i.
        max_profile_tokens: room of the window.
    """

    task: str
    request: str
    user: str
    pool: tuple[str, ...]
    retriever_scores: tuple[float, ...]
    record_tokens: tuple[int, ...]
    controls: tuple[tuple[tuple[str, str], ...], ...]
    empty_tokens: int
    reference_tokens: int
    max_records: int
    max_profile_tokens: int

    @property
    def name(self) -> str:
        """The request's name among those of all tasks; `Case.name` has it too."""
        return f"{self.task}/{self.request}"

    @property
    def in_order(self) -> Profile:
        """The pool's first records, as many as may be; what does not fit is passed over."""
        chosen: list[int] = []
        room = self.max_profile_tokens
        for place, tokens in enumerate(self.record_tokens):
            if len(chosen) < self.max_records and tokens <= room:
                chosen.append(place)
                room -= tokens
        return tuple(chosen)


@dataclass(frozen=True, eq=False)
class ScoredTree:
    """All profiles of one request's search, n of them, the empty one first.

    Attributes:
        of: whose.
        lengths: records of each profile, [n].
        places: places of each profile's records in the pool, joined, [sum of lengths].
        log_likelihood: ℓ_i(S), [n].
        is_initial: roots and their children, on which scales are calibrated, [n].
        slots: leave-one-out and control scores of looked-at slots.
    """

    of: TreeOf
    lengths: NDArray[np.uint8]
    places: NDArray[np.uint8]
    log_likelihood: NDArray[np.float32]
    is_initial: NDArray[np.bool_]
    slots: SlotScores

    @cached_property
    def profiles(self) -> list[Profile]:
        """The profiles as tuples of places."""
        parts = np.split(self.places, np.cumsum(self.lengths, dtype=np.int64)[:-1])
        return [tuple(part.tolist()) for part in parts]

    @property
    def cost(self) -> NDArray[np.float64]:
        """c_i(S) of every profile, [n]  [cost]."""
        tokens = np.array(self.of.record_tokens, np.int64)[self.places]
        owner = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return np.bincount(owner, weights=tokens, minlength=len(self.lengths)) / L_REF

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        """Index of each profile without its last record, or -1 where that is no node, [n]."""
        place = {profile: i for i, profile in enumerate(self.profiles)}
        found = [place.get(profile[:-1], -1) if profile else -1 for profile in self.profiles]
        return np.array(found, np.int32)


def canonical(profiles: Sequence[Profile]) -> list[Profile]:
    """The order of nodes in a tree: shorter first, then by places."""
    return sorted(profiles, key=lambda profile: (len(profile), profile))


def blind_part(tree: ScoredTree) -> ScoredTree:
    """The tree without what is there because of its likelihood: roots and their children alone.

    Deeper prefixes were kept because they turned out well, reference known; who learns from them
    what profiles are worth learns from the lucky ones.
    """
    kept = tree.is_initial
    number = np.cumsum(kept) - 1  # of a kept node among the kept
    owner = np.repeat(np.arange(len(kept)), tree.lengths)
    slots, of_kept = tree.slots, kept[tree.slots.node]
    return ScoredTree(
        of=tree.of,
        lengths=tree.lengths[kept],
        places=tree.places[kept[owner]],
        log_likelihood=tree.log_likelihood[kept],
        is_initial=tree.is_initial[kept],
        slots=SlotScores(
            node=number[slots.node[of_kept]].astype(np.int32),
            slot=slots.slot[of_kept],
            without=slots.without[of_kept],
            controls=slots.controls[of_kept],
            counts_for=slots.counts_for[of_kept],
        ),
    )


def assemble(
    of: TreeOf,
    nodes: Mapping[Profile, float],
    order: Sequence[Profile],
    initial: frozenset[Profile],
    slots: SlotScores,
) -> ScoredTree:
    """The tree of a finished search."""
    return ScoredTree(
        of=of,
        lengths=np.array([len(profile) for profile in order], np.uint8),
        places=np.array([place for profile in order for place in profile], np.uint8),
        log_likelihood=np.array([nodes[profile] for profile in order], np.float32),
        is_initial=np.array([profile in initial for profile in order], np.bool_),
        slots=slots,
    )
