"""The official metrics of every task, one table each.

In: measures of methods. Out: Markdown: both metrics of every method with their intervals, and the
tested method's lead over it.
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.diagnostics.sections import Format, Value, table
from enough.evaluation.intervals import Estimate
from enough.evaluation.significance import LEVEL
from enough.evaluation.table_values import BOOTSTRAP_MARK, Column
from enough.results.method_measures import Measure, MethodMeasures
from enough.results.method_names import best_methods, methods_of, name_in_table, title_of
from enough.results.wording import cell, markdown_table, plain_text


def metrics_section(found: MethodMeasures) -> list[str]:
    """One table for every task: both metrics, and the champion's lead in each."""
    if not found.metrics:
        return []
    champion = found.table.champion
    lead = "" if champion is None else f" Lead: of {title_of(found, champion)}, positive if better."
    parts = [
        "### Official metrics",
        "All metrics are times 100, means over runs; of mae and rmse less is better." + lead,
    ]
    if champion is not None:
        parts[-1] += (
            f" {plain_text(BOOTSTRAP_MARK)}: told apart after Holm's correction over all methods "
            "of the group."
        )
    for task, measures in found.metrics.items():
        requests = found.table.requests[task]
        parts += [
            f"**{plain_text(task)}** ({requests} requests of {measures[0].users} users)",
            _task_table(found, task, measures),
        ]
    return parts


def _task_table(found: MethodMeasures, task: str, measures: Sequence[Measure]) -> str:
    champion = found.table.champion
    methods = [one for one in methods_of(found) if one.name in measures[0].values]
    best = [best_methods(measure, methods) for measure in measures]
    rows: list[list[Value]] = []
    for shown in methods:
        row: list[Value] = [name_in_table(found, shown)]
        for measure, names in zip(measures, best, strict=True):
            text = cell(measure.values[shown.name], measure.format)
            row.append(f"**{text}**" if shown.name in names else text)
            row.append(_lead(found, measure, Column(task, measure.name), shown.name))
        rows.append(row)
    heads: list[tuple[str, Format]] = [("method", "text")]
    for measure in measures:
        heads += [(measure.name, "quality"), ("lead", "quality")]
    if champion is None or champion not in measures[0].values:
        heads = [one for one in heads if one[0] != "lead"]
        rows = [[row[0], *row[1::2]] for row in rows]
    return markdown_table(table(heads, rows))


def _lead(found: MethodMeasures, measure: Measure, column: Column, name: str) -> str | None:
    """The champion's over one method, marked where Holm's correction leaves it standing."""
    champion = found.table.champion
    if champion is None or name == champion or champion not in measure.values:
        return None
    behind = measure.values[champion] - measure.values[name]
    lead = Estimate(measure.better * behind.observed + 0.0, measure.better * behind.draws)
    compared = [one for one in found.table.comparisons[column] if one.other == name]
    is_marked = any(one.holm < LEVEL for one in compared)
    return cell(lead, measure.format) + plain_text(BOOTSTRAP_MARK) * is_marked
