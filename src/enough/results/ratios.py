"""Ratios of means, with the draws behind their intervals."""

from __future__ import annotations

from enough.evaluation.intervals import Estimate


def ratio(above: Estimate, below: Estimate) -> Estimate | None:
    """One mean over another on the same draws; None where the latter is not clearly above zero."""
    if below.observed <= 0 or below.draws.min() <= 0:
        return None
    return Estimate(above.observed / below.observed, above.draws / below.draws)
