"""Rows of one task side by side: every method and run on the same requests in the same order.

In: rows in any order. Out: per task a `TaskRows`, checked: what is compared must be paired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from enough.errors import DataError
from enough.evaluation.metrics import Value, metric_parts, metric_value, oriented_score
from enough.evaluation.quality import harm
from enough.evaluation.rows import Row
from enough.evaluation.significance import Runs
from enough.tasks import Task


@dataclass(frozen=True, slots=True, eq=False)
class TaskRows:
    """All rows of a task.

    Attributes:
        runs: method -> seed -> rows, all in the same order of requests.
        users: of these requests.
    """

    task: Task
    runs: Mapping[str, Mapping[int, Sequence[Row]]]
    users: tuple[str, ...]

    def parts(self, method: str, metric: str) -> Runs:
        """What every request contributes to a metric in every run of a method."""
        runs = self.runs[method]
        of_runs = [
            metric_parts(
                self.task,
                metric,
                [row.answer for row in rows],
                [row.reference or "" for row in rows],
                [row.scores for row in rows],
            )
            for rows in runs.values()
        ]
        return Runs(tuple(runs), np.stack(of_runs, axis=1))

    def oriented(self, method: str, seed: int) -> list[float]:
        """Scores of the requests under the leading metric, higher being better.

        A method that was not run under this seed draws nothing, so its first run stands for it.
        """
        runs = self.runs[method]
        rows = runs[seed] if seed in runs else next(iter(runs.values()))
        return [oriented_score(self.task, row.scores) for row in rows]

    def harmed(self, method: str, empty: str) -> list[tuple[float, int]]:
        """Of every run, the share of requests worse off than without a profile, and how many."""
        return [
            (harm(self.oriented(method, seed), self.oriented(empty, seed)), len(rows))
            for seed, rows in self.runs[method].items()
        ]


def printed_value(metric: str) -> Value:
    """A metric as tables print it: 100 times what it is."""
    of = metric_value(metric)
    return lambda means: 100 * of(means)


def arrange(rows: Iterable[Row], tasks: Sequence[Task]) -> list[TaskRows]:
    """Rows by task, in the order of the tasks; tasks without rows are left out.

    Raises:
        DataError: if a row is there twice, has no reference, or is of a task that is not named, or
            if a method lacks requests that another one has.
    """
    by_task: dict[str, dict[str, dict[int, dict[str, Row]]]] = {task.name: {} for task in tasks}
    for row in rows:
        where = f"{row.method}, {row.task}, seed {row.seed}, request {row.request_id}"
        if row.task not in by_task:
            raise DataError(f"{where}: the task is not among those of the table")
        if row.reference is None:
            raise DataError(f"{where}: there is no reference to judge the answer by")
        cell = by_task[row.task].setdefault(row.method, {}).setdefault(row.seed, {})
        if row.request_id in cell:
            raise DataError(f"{where}: there are two rows of it")
        cell[row.request_id] = row
    return [_paired(task, by_task[task.name]) for task in tasks if by_task[task.name]]


def _paired(task: Task, methods: Mapping[str, Mapping[int, Mapping[str, Row]]]) -> TaskRows:
    every = {
        i: row.user
        for runs in methods.values()
        for cell in runs.values()
        for i, row in cell.items()
    }
    for method, runs in methods.items():
        for seed, cell in runs.items():
            if missing := [i for i in every if i not in cell]:
                raise DataError(
                    f"{method}, {task.name}, seed {seed}: {len(missing)} of {len(every)} requests "
                    f"are missing, among them {missing[0]}; finish the run first"
                )
    return TaskRows(
        task,
        {
            method: {seed: [runs[seed][i] for i in every] for seed in sorted(runs)}
            for method, runs in methods.items()
        },
        tuple(every.values()),
    )
