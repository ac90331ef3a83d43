"""How far ENOUGH is ahead of its strongest rival, variant by variant.

In: rows of several methods in several variants of a study. Out: a `Gap` for every variant, task and
metric. The strongest rival is found on the reported requests themselves, as in the paper: luck
helps it, not ENOUGH.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from enough.diagnostics.sections import Format, Table, Value, table
from enough.diagnostics.summaries import summarise
from enough.diagnostics.task_metrics import (
    by_task,
    lead,
    metric_estimate,
    orientation,
    points,
)
from enough.diagnostics.told_apart import FEWEST_USERS
from enough.diagnostics.transfer.rerun import RerunRow
from enough.diagnostics.tried import OURS, Tried
from enough.evaluation.intervals import Interval
from enough.tasks import Task

_METHOD_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Method", "text"),
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Records", "number"),
    ("No profile", "share"),
    ("Harm", "share"),
)
STRONGEST_NOTE = (
    "The strongest baseline is the one with the best value on the reported requests, as in the "
    "paper. It was picked with knowledge of these answers and ENOUGH was not, so Δ is on the low "
    "side. The interval is that of the difference to this one baseline."
)


@dataclass(frozen=True, slots=True)
class Gap:
    """ENOUGH and the strongest rival in one variant, task and metric; Δ in points.

    Attributes:
        rival: the one with the best value on these very requests; of equals the first.
        users: who asked; an interval over few of them says too little to claim anything.
    """

    variant: str
    task: str
    metric: str
    rival: str
    ours: Interval
    theirs: Interval
    delta: Interval
    users: int

    @property
    def sign(self) -> int:
        """Of Δ, as far as it can be told from zero; 0 where it cannot."""
        if self.users < FEWEST_USERS:
            return 0
        return (self.delta.low > 0) - (self.delta.high < 0)


def by_method(rows: Sequence[RerunRow]) -> dict[str, dict[str, list[Tried]]]:
    """Variant -> method -> rows, in the order in which they first appear."""
    found: dict[str, dict[str, list[Tried]]] = {}
    for row in rows:
        found.setdefault(row.variant, {}).setdefault(row.method, []).append(row.tried)
    return found


def gaps(
    rows: Sequence[RerunRow], tasks: Mapping[str, Task], *, is_leading_only: bool
) -> list[Gap]:
    """Of every variant and task, in the leading metric or in all of them."""
    found = []
    for variant, methods in by_method(rows).items():
        of_method = {name: by_task(of) for name, of in methods.items()}
        for task, ours in of_method.pop(OURS).items():
            for metric in tasks[task].metrics[: 1 if is_leading_only else None]:
                values = {
                    name: metric_estimate(of[task], tasks[task], metric)
                    for name, of in of_method.items()
                }
                if not values:
                    continue
                sign = orientation(metric)
                rival = max(values, key=lambda name: sign * values[name].observed)
                mine = metric_estimate(ours, tasks[task], metric)
                delta = lead(ours, of_method[rival][task], tasks[task], metric)
                both = (points(mine), points(values[rival]))
                users = len({row.user for row in ours})
                found.append(Gap(variant, task, metric, rival, *both, delta, users))
    return found


def verdict(found: Sequence[Gap]) -> str:
    """How many gaps there are, of which sign, and how many can be told from zero."""
    above = sum(gap.delta.mean > 0 for gap in found)
    surely_above = sum(gap.sign > 0 for gap in found)
    surely_below = sum(gap.sign < 0 for gap in found)
    text = f"{OURS} has the better value in {above} of {len(found)} comparisons"
    if same := sum(gap.delta.mean == 0 for gap in found):
        text += f" and the same in {same}"
    if not surely_above and not surely_below:
        return f"{text}; no gap can be told from zero on these requests"
    return (
        f"{text}; the interval lies above zero in {surely_above} and below zero in {surely_below}"
    )


def method_table(rows: Sequence[RerunRow], tasks: Mapping[str, Task], variant: str) -> Table:
    """Every method of every variant; quality is 100 for ENOUGH in the same variant.

    Args:
        rows: of all variants.
        tasks: by name.
        variant: what a variant is, for the column's title.
    """
    lines: list[tuple[Value, ...]] = []
    for name, methods in by_method(rows).items():
        for method, of in methods.items():
            one = summarise(of, methods[OURS], tasks)
            values = (one.quality, one.tokens, one.records, one.root_stop, one.harm)
            lines.append((name, method, *values))
    return table(((variant, "text"), *_METHOD_COLUMNS), lines)
