"""One line of the main table: a method's cost and utility over all its requests.

In: the rows of one method, its metrics, quality index and harm. Out: a `Line`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np

from enough.evaluation.intervals import Interval, clustered
from enough.evaluation.metrics import OUTSIDE_LABELS, UNPARSEABLE
from enough.evaluation.rows import Row
from enough.evaluation.table_values import COMPONENTS, Cell, Column, Faults, Latency, Line, Shown


def line_of(
    shown: Shown,
    rows: Sequence[Row],
    cells: Mapping[Column, Cell],
    quality: float | None,
    harm: float | None,
) -> Line:
    """Means over all rows of a method, beside what was computed per task."""
    return Line(
        shown=shown,
        requests=len(rows),
        cells=cells,
        quality=quality,
        harm=harm,
        tokens=fmean(row.profile_tokens for row in rows),
        records=fmean(len(row.records) for row in rows),
        root_stop=fmean(row.root_stop for row in rows),
        calls=fmean(row.calls for row in rows),
        rerank_calls=fmean(row.rerank_calls for row in rows),
        latency={
            name: _latency([getattr(row.seconds, name) for row in rows]) for name in COMPONENTS
        },
        log_likelihood_gain=_mean_of_all(rows, lambda row: row.log_likelihood_gain),
        net=_net(rows),
        unparseable=_faults(rows, UNPARSEABLE),
        outside_labels=_faults(rows, OUTSIDE_LABELS),
    )


def _latency(seconds: Sequence[float]) -> Latency:
    p50, p95 = np.quantile(seconds, (0.5, 0.95)) * 1000
    return Latency(float(p50), float(p95))


def _mean_of_all(rows: Sequence[Row], value: Callable[[Row], float | None]) -> float | None:
    known = [found for row in rows if (found := value(row)) is not None]
    return fmean(known) if len(known) == len(rows) else None


def _net(rows: Sequence[Row]) -> Interval | None:
    net = [row.net for row in rows if row.net is not None]
    if len(net) < len(rows):
        return None
    return clustered(net, [f"{row.task}/{row.user}" for row in rows])


def _faults(rows: Iterable[Row], name: str) -> Faults:
    found = [row.scores[name] for row in rows if name in row.scores]
    return Faults(int(sum(found)), len(found))
