"""Every likelihood a scored tree has in it, so that no search asks for one twice.

In: a tree and its case. Out: profile -> ℓ, by the numbers that a search of the same case uses: own
profiles, leave-one-out profiles that are no nodes, and profiles with a control in one slot.
"""

from __future__ import annotations

from enough.prompts.profile_sequences import Profile
from enough.teacher.case import Case
from enough.teacher.scored_tree import ScoredTree


def known_scores(tree: ScoredTree, case: Case) -> dict[Profile, float]:
    """ℓ of every profile that was scored for this tree."""
    profiles, slots = tree.profiles, tree.slots
    known = dict(zip(profiles, tree.log_likelihood.tolist(), strict=True))
    columns = (slots.node, slots.slot, slots.without, slots.controls)
    for node, slot, without, controls in zip(*(c.tolist() for c in columns), strict=True):
        profile = profiles[node]
        before, after = profile[:slot], profile[slot + 1 :]
        known.setdefault(before + after, without)
        for number, score in zip(case.control_numbers[profile[slot]], controls, strict=True):
            known[(*before, number, *after)] = score
    return known
