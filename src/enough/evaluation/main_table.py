"""The main table: methods by tasks, with what it took and whether differences are real.

In: rows of methods × tasks × seeds. Out: plain values: a line per method with both official metrics
of each task (times 100, as the paper prints them), the quality index, harm, cost and utility, and
the comparisons of one method with every other. `table_text` writes it down. Methods that know the
reference ("oracle") are lines of a group of their own, and nothing is tested against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev

from enough.errors import ConfigError
from enough.evaluation.intervals import Resampling
from enough.evaluation.quality import quality_index
from enough.evaluation.row_grid import TaskRows, arrange, printed_value
from enough.evaluation.rows import Row
from enough.evaluation.significance import LEVEL, Comparison, Runs, against_all
from enough.evaluation.table_lines import line_of
from enough.evaluation.table_values import (
    BOOTSTRAP_MARK,
    T_MARK,
    Cell,
    Column,
    MainTable,
    Setup,
    Shown,
)
from enough.tasks import Task


def main_table(
    rows: Sequence[Row],
    tasks: Sequence[Task],
    methods: Sequence[Shown],
    setup: Setup,
    *,
    champion: str | None = "enough",
    empty: str = "empty",
    seed: int = 0,
) -> MainTable:
    """Derive the table; methods without rows are left out.

    Args:
        rows: all of them.
        tasks: in the order of the columns.
        methods: in the order of the lines; every method of the rows must be there.
        setup: in words.
        champion: the method that is compared with all others, and that quality is relative to;
            None, or one without rows, for neither.
        empty: the method without a profile, against which harm is measured.
        seed: of the bootstrap.
    """
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        by_method.setdefault(row.method, []).append(row)
    if unknown := sorted(by_method.keys() - {shown.name for shown in methods}):
        raise ConfigError(f"the table is not told how to show the method {unknown[0]!r}")
    present = [shown for shown in methods if shown.name in by_method]
    champion = champion if champion in by_method else None
    grid = arrange(rows, tasks)
    cells: dict[str, dict[Column, Cell]] = {shown.name: {} for shown in present}
    comparisons: dict[Column, tuple[Comparison, ...]] = {}
    for of in grid:
        for column, (of_column, compared) in _columns(of, present, champion, seed).items():
            comparisons[column] = compared
            for name, cell in of_column.items():
                cells[name][column] = cell
    best = {} if champion is None else _metrics(cells[champion])
    return MainTable(
        columns=tuple(comparisons),
        lines=tuple(
            line_of(
                shown,
                by_method[shown.name],
                cells[shown.name],
                quality_index(_metrics(cells[shown.name]), best),
                _harm(grid, shown.name, empty),
            )
            for shown in present
        ),
        comparisons=comparisons,
        champion=champion,
        setup=setup,
        requests={of.task.name: len(of.users) for of in grid},
        runs=max((len(runs) for of in grid for runs in of.runs.values()), default=0),
    )


def _columns(
    of: TaskRows, present: Sequence[Shown], champion: str | None, seed: int
) -> dict[Column, tuple[dict[str, Cell], tuple[Comparison, ...]]]:
    """Cells of all methods, and comparisons, for both metrics of a task."""
    resampling = Resampling(of.users, seed)
    found = {}
    for metric in of.task.metrics:
        column = Column(of.task.name, metric)
        runs = {
            shown.name: of.parts(shown.name, metric) for shown in present if shown.name in of.runs
        }
        compared = _compared(column, runs, present, champion, resampling)
        main = {shown.name for shown in present if shown.group == "main"}
        cells = {}
        for name, one in runs.items():
            values = list(one.values(printed_value(metric)).values())
            sd = stdev(values) if len(values) > 1 else None
            against = [
                c for c in compared if c.other == name or (name == champion and c.other in main)
            ]
            cells[name] = Cell(fmean(values), sd, _marks(against, must_win=name == champion))
        found[column] = (cells, tuple(compared))
    return found


def _compared(
    column: Column,
    runs: Mapping[str, Runs],
    present: Sequence[Shown],
    champion: str | None,
    resampling: Resampling,
) -> list[Comparison]:
    """The champion against the others; main and diagnostic methods are two Holm families."""
    if champion is None or champion not in runs:
        return []
    found = []
    for group in ("main", "diagnostic"):
        others = [s.name for s in present if s.group == group and s.name in runs]
        found += against_all(
            runs[champion],
            {name: runs[name] for name in others if name != champion},
            resampling,
            printed_value(column.metric),
            higher_is_better=column.higher_is_better,
        )
    return found


def _marks(compared: Sequence[Comparison], must_win: bool) -> str:
    """What all these comparisons agree on."""
    if not compared or (must_win and any(c.difference.mean <= 0 for c in compared)):
        return ""
    holm = all(c.holm < LEVEL for c in compared)
    over_runs = all(c.t is not None and c.t < LEVEL for c in compared)
    return BOOTSTRAP_MARK * holm + T_MARK * over_runs


def _metrics(cells: Mapping[Column, Cell]) -> dict[str, dict[str, float]]:
    """Task -> metric -> value."""
    metrics: dict[str, dict[str, float]] = {}
    for column, cell in cells.items():
        metrics.setdefault(column.task, {})[column.metric] = cell.value
    return metrics


def _harm(grid: Iterable[TaskRows], method: str, empty: str) -> float | None:
    """Over all requests and runs of the method."""
    of_method = [of for of in grid if method in of.runs]
    if any(empty not in of.runs for of in of_method):
        return None
    shares = [pair for of in of_method for pair in of.harmed(method, empty)]
    return sum(share * requests for share, requests in shares) / sum(n for _, n in shares)
