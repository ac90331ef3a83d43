"""Profiles as the counterfactual search makes them, without needing any score.

In: a pool and matched replacements for its records. Out: ordered profiles: a beam of `width`
prefixes per depth, all actions at the root and `actions` deeper, down to `max_records`; for every
prefix the leave-one-out profile of one random slot and that slot filled by each replacement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from enough.records import Record

Profile = tuple[Record, ...]


def search_like_profiles(
    pool: Sequence[Record],
    replacements: Mapping[str, Sequence[Record]],
    *,
    max_records: int,
    actions: int,
    width: int,
    rng: np.random.Generator,
) -> list[Profile]:
    """Distinct profiles of one request's search, in no particular order."""
    found: dict[tuple[tuple[str, str], ...], Profile] = {}
    for prefix in _beam(pool, max_records, actions, width, rng):
        for profile in (prefix, *_slot_variants(prefix, replacements, rng)):
            found[tuple((record.owner, record.id) for record in profile)] = profile
    return list(found.values())


def _beam(
    pool: Sequence[Record], max_records: int, actions: int, width: int, rng: np.random.Generator
) -> list[Profile]:
    found: list[Profile] = [()]
    kept: list[Profile] = [()]
    for depth in range(min(max_records, len(pool))):
        grown: list[Profile] = []
        for prefix in kept:
            rest = [record for record in pool if record not in prefix]
            count = len(rest) if depth == 0 else min(actions, len(rest))
            chosen = rng.choice(len(rest), count, replace=False)
            grown += [(*prefix, rest[i]) for i in chosen]
        found += grown
        kept = [grown[i] for i in rng.choice(len(grown), min(width, len(grown)), replace=False)]
    return found


def _slot_variants(
    profile: Profile, replacements: Mapping[str, Sequence[Record]], rng: np.random.Generator
) -> list[Profile]:
    if not profile:
        return []
    slot = int(rng.integers(len(profile)))
    before, after = profile[:slot], profile[slot + 1 :]
    others = replacements[profile[slot].id]
    return [before + after, *((*before, other, *after) for other in others)]
