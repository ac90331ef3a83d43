"""What methods are compared by, each with the draws behind its interval.

In: rows of an evaluation. Out: measures over all tasks (quality, J, gain per token, tokens, harm,
calls) and the official metrics of each task, for every method. Users are resampled, within the task
for its metrics and the quality index, over all tasks for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from enough.diagnostics.sections import Format
from enough.evaluation.intervals import Estimate, Floats, Resampling, estimate
from enough.evaluation.main_table import main_table
from enough.evaluation.row_grid import TaskRows, arrange, printed_value
from enough.evaluation.rows import Row
from enough.evaluation.table_values import MainTable
from enough.results.quality_draws import quality_estimates
from enough.results.sources import Answers
from enough.tasks import METRIC_IS_HIGHER_BETTER

PER_TOKENS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """One thing that is measured of every method.

    Attributes:
        name: as a column has it.
        better: +1 or −1, the direction that is better; 0 if neither is.
        values: by method; those that have none are left out.
        users: how many were resampled.
    """

    name: str
    format: Format
    better: int
    values: Mapping[str, Estimate]
    users: int


@dataclass(frozen=True, slots=True, eq=False)
class MethodMeasures:
    """All measures of an evaluation.

    Attributes:
        table: the main table of the same rows.
        pooled: over all tasks, by name.
        metrics: task -> its official metrics, times 100.
    """

    answers: Answers
    table: MainTable
    pooled: Mapping[str, Measure]
    metrics: Mapping[str, tuple[Measure, ...]]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a method stands among others in one measure.

    Attributes:
        rank: 1 for the best, and for those equal to it.
        among: how many methods have the measure.
        other: the best of the others.
        lead: over it, positive where the method is better.
    """

    measure: Measure
    rank: int
    among: int
    other: str
    lead: Estimate


def measure_methods(answers: Answers) -> MethodMeasures:
    """Everything the page says of methods."""
    table = main_table(
        answers.rows,
        answers.tasks,
        answers.methods,
        answers.setup,
        champion=answers.champion,
        empty=answers.empty,
    )
    grid = arrange(answers.rows, answers.tasks)
    names = [line.shown.name for line in table.lines]
    metrics = {of.task.name: _metrics(of, names) for of in grid}
    return MethodMeasures(answers, table, _pooled(answers, table, grid, names), metrics)


def standing(measure: Measure, method: str, methods: Sequence[str]) -> Standing | None:
    """Of a method among others; None without a value of it, or of any other."""
    values = {name: measure.values[name] for name in methods if name in measure.values}
    ours = values.pop(method, None)
    if ours is None or not values or not measure.better:
        return None
    other = max(values, key=lambda name: measure.better * values[name].observed)
    ahead = sum(measure.better * (one.observed - ours.observed) > 0 for one in values.values())
    behind = ours - values[other]
    oriented = Estimate(measure.better * behind.observed + 0.0, measure.better * behind.draws)
    return Standing(measure, 1 + ahead, 1 + len(values), other, oriented)


def _metrics(of: TaskRows, names: Sequence[str], seed: int = 0) -> tuple[Measure, ...]:
    resampling = Resampling(of.users, seed)
    return tuple(
        Measure(
            metric,
            "quality",
            1 if METRIC_IS_HIGHER_BETTER[metric] else -1,
            {
                name: estimate(of.parts(name, metric).parts, resampling, printed_value(metric))
                for name in names
                if name in of.runs
            },
            resampling.users,
        )
        for metric in of.task.metrics
    )


def _drawn(measure: Measure) -> dict[str, Floats]:
    return {name: one.draws for name, one in measure.values.items()}


def _pooled(
    answers: Answers, table: MainTable, grid: Sequence[TaskRows], names: Sequence[str]
) -> dict[str, Measure]:
    users = [f"{of.task.name}/{user}" for of in grid for user in of.users]
    resampling = Resampling(users)

    def mean(name: str, of: Callable[[Row], float | None]) -> Estimate | None:
        values = _values(grid, name, of)
        return None if values is None else estimate(values, resampling)

    def means(of: Callable[[Row], float | None]) -> dict[str, Estimate]:
        return {name: one for name in names if (one := mean(name, of)) is not None}

    tokens, gains = means(lambda row: row.profile_tokens), means(lambda row: row.gain)
    rates = {
        name: Estimate(PER_TOKENS * one.observed, PER_TOKENS * one.draws)
        for name in gains
        if (one := gains[name].over(tokens[name])) is not None
    }
    harmed = {
        name: estimate(values, resampling)
        for name in names
        if (values := _harmed(grid, name, answers.empty)) is not None
    }
    quality = quality_estimates(
        table,
        [  # other draws than those of the metrics, and for every task its own
            {m.name: _drawn(m) for m in _metrics(of, names, seed=1 + number)}
            for number, of in enumerate(grid)
        ],
    )
    count = resampling.users
    measures = (
        Measure("quality index", "quality", 1, quality, count),
        Measure("J", "signed", 1, means(lambda row: row.net), count),
        Measure("gain per 1,000 tokens", "signed", 1, rates, count),
        Measure("gain", "signed", 1, gains, count),
        Measure("tokens", "count", -1, tokens, count),
        Measure("calls", "quality", -1, means(lambda r: r.calls + r.rerank_calls), count),
        Measure("harm", "share", -1, harmed, count),
        Measure("without records", "share", 0, means(lambda row: row.root_stop), count),
    )
    return {one.name: one for one in measures}


def _values(
    grid: Sequence[TaskRows], method: str, of: Callable[[Row], float | None]
) -> Floats | None:
    """Of all requests of all tasks, the mean over runs, [n]; None if one of them has no value."""
    parts = []
    for task in grid:
        runs = task.runs.get(method)
        found = [[of(row) for row in rows] for rows in runs.values()] if runs else [[None]]
        if any(value is None for run in found for value in run):
            return None
        parts.append(np.array(found, np.float64).mean(axis=0))
    return np.concatenate(parts)


def _harmed(grid: Sequence[TaskRows], method: str, empty: str) -> Floats | None:
    """Whether requests are worse off than without a profile, the mean over runs, [n]."""
    parts = []
    for task in grid:
        if method not in task.runs or empty not in task.runs:
            return None
        runs = [
            np.array(task.oriented(method, seed)) < np.array(task.oriented(empty, seed))
            for seed in task.runs[method]
        ]
        parts.append(np.mean(runs, axis=0))
    return np.concatenate(parts)
