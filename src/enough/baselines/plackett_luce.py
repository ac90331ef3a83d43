"""Plackett–Luce: an ordered profile, drawn record by record in proportion to positive scores.

In: log s_j of n records, what each adds to a prompt, and the room there is. Out: draws, and log
P(d_1, …, d_k) = Σ_t [log s_{d_t} − log Σ_{j ∈ A_t} s_j], where A_t are the records that are left
and still fit. A whole order is drawn at once (log s plus Gumbel noise, sorted) and read from the
front; what does not fit is passed over. Room only shrinks, so that this is exactly the same policy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Places = tuple[int, ...]
"""An ordered profile: places of records in their pool."""


def draw_orders(
    log_scores: NDArray[np.float64], draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Orders of all records, [draws, n], from scores [n]."""
    noise = rng.gumbel(size=(draws, len(log_scores)))
    return np.argsort(-(log_scores + noise), axis=1, kind="stable")


def best_order(log_scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The highest score first, ties in pool order, [n]."""
    return np.argsort(-log_scores, kind="stable")


def take(
    order: Sequence[int] | NDArray[np.int64], sizes: Sequence[int], room: int, k: int
) -> Places:
    """The first k records of an order that fit, one after the other."""
    taken: list[int] = []
    for place in map(int, order):
        if len(taken) == k:
            break
        if sizes[place] <= room:
            taken.append(place)
            room -= sizes[place]
    return tuple(taken)


def choice_sets(profile: Places, sizes: Sequence[int], room: int) -> NDArray[np.bool_]:
    """A_t: what each record of a profile was chosen from, [len(profile), n]."""
    left = np.ones(len(sizes), np.bool_)
    tokens = np.array(sizes)
    sets = np.zeros((len(profile), len(sizes)), np.bool_)
    for step, place in enumerate(profile):
        sets[step] = left & (tokens <= room)
        left[place] = False
        room -= sizes[place]
    return sets


def log_probability(log_scores: Tensor, profiles: Tensor, choices: Tensor) -> Tensor:
    """The log-probability of ordered profiles, [r].

    Args:
        log_scores: of each profile's pool, [r, n].
        profiles: places in it, [r, k].
        choices: A_t of every step, [r, k, n]. A step with its own record as the only choice adds
            nothing; shorter profiles are filled up with those.
    """
    chosen = log_scores.gather(1, profiles)
    among = log_scores[:, None, :].masked_fill(~choices, -torch.inf)
    return (chosen - torch.logsumexp(among, dim=2)).sum(dim=1)


def stacked(
    profiles: Sequence[Places], choices: Sequence[NDArray[np.bool_]], records: int
) -> tuple[Tensor, Tensor]:
    """Profiles [r, k] and choices [r, k, records] as tensors, shorter ones filled up."""
    longest = max(map(len, profiles))
    places = np.zeros((len(profiles), longest), np.int64)
    sets = np.zeros((len(profiles), longest, records), np.bool_)
    sets[:, :, 0] = True
    for row, (profile, choice) in enumerate(zip(profiles, choices, strict=True)):
        places[row, : len(profile)] = profile
        sets[row, : len(profile), 0] = False
        sets[row, : len(profile), : choice.shape[1]] |= choice
    return torch.from_numpy(places), torch.from_numpy(sets)
