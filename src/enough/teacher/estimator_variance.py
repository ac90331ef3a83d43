"""How noisy the two estimators of specificity are: one sampled slot, and all slots.

In: trees in which some profiles had all their slots looked at (all of them with `slots = "all"`,
the audited ones with "one"). Out: the mean variance of p under either estimator. Two sources: which
slot was drawn, and which K⁻ controls happened to be found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from enough.teacher.components import slot_values
from enough.teacher.scored_tree import ScoredTree


@dataclass(frozen=True, slots=True)
class EstimatorVariance:
    """Mean variance of p over profiles of at least two slots, in squared log-likelihood.

    Attributes:
        profiles: how many had all slots looked at.
        mean_specificity: their mean p with all slots.
        one_slot: drawing a slot, and the controls found for it.
        all_slots: the controls found, averaged over slots.
    """

    profiles: int
    mean_specificity: float
    one_slot: float
    all_slots: float


def estimator_variance(trees: Iterable[ScoredTree]) -> EstimatorVariance:
    """Both variances over all profiles whose every usable slot was looked at."""
    means, ones, alls = [], [], []
    for tree in trees:
        slots = tree.slots
        if slots.controls.shape[1] < 2:
            continue  # one control says nothing about how controls differ
        beyond = np.maximum(slots.controls - slots.without[:, None], 0).astype(np.float64)
        by_controls = beyond.var(axis=1, ddof=1) / beyond.shape[1]  # [m]
        values = slot_values(tree)
        whole: dict[int, list[int]] = defaultdict(list)
        for i, node in enumerate(slots.node.tolist()):
            whole[node].append(i)
        for places in whole.values():
            if len(places) > 1:  # a sampled slot alone is no audit
                means.append(values[places].mean())
                # The slots' own spread has all but one of t parts of the controls' noise in it.
                noise = by_controls[places].mean() / len(places)
                ones.append(values[places].var() + noise)
                alls.append(noise)
    if not means:
        return EstimatorVariance(0, 0.0, 0.0, 0.0)
    return EstimatorVariance(
        len(means), float(np.mean(means)), float(np.mean(ones)), float(np.mean(alls))
    )
