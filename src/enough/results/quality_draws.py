"""The quality index of every method with the draws behind its interval.

In: the main table, and the metrics of each task in every draw. Out: the index as the table has it,
and as it comes out when the users of every task are drawn anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from enough.evaluation.intervals import Estimate, Floats
from enough.evaluation.table_values import MainTable
from enough.tasks import METRIC_IS_HIGHER_BETTER

TaskDraws = Mapping[str, Mapping[str, Floats]]
"""Metric -> method -> its value in every draw, [draws]."""


def quality_estimates(table: MainTable, tasks: Sequence[TaskDraws]) -> dict[str, Estimate]:
    """By method; one whose index is undefined in some draw has none.

    Args:
        table: the index as observed, and the method it is relative to.
        tasks: drawn independently of each other.
    """
    found: dict[str, Estimate] = {}
    if table.champion is None:
        return found
    for line in table.lines:
        if line.quality is None:
            continue
        of_tasks = [
            np.mean(
                [_oriented_ratio(m, v, line.shown.name, table.champion) for m, v in of.items()], 0
            )
            for of in tasks
        ]
        draws = 100 * np.mean(of_tasks, axis=0)
        if np.isfinite(draws).all():
            found[line.shown.name] = Estimate(line.quality, draws)
    return found


def _oriented_ratio(
    metric: str, values: Mapping[str, Floats], method: str, champion: str
) -> Floats:
    """To the champion in every draw; more is better."""
    above, below = values[method], values[champion]
    if not METRIC_IS_HIGHER_BETTER[metric]:
        above, below = below, above
    divided = np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)
    found: Floats = np.where(above == below, 1.0, divided)
    return found
