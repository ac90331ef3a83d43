"""Methods in tables: which, under which name, and which of them is best."""

from __future__ import annotations

from collections.abc import Sequence

from enough.evaluation.table_values import Shown
from enough.results.method_measures import Measure, MethodMeasures
from enough.results.wording import plain_text


def methods_of(found: MethodMeasures, group: str | None = None) -> list[Shown]:
    """The methods of a table, of one group or all."""
    shown = [line.shown for line in found.table.lines]
    return [one for one in shown if group in (None, one.group)]


def title_of(found: MethodMeasures, name: str) -> str:
    """A method's title in Markdown."""
    title = next(line.shown.title for line in found.table.lines if line.shown.name == name)
    return plain_text(title)


def name_in_table(found: MethodMeasures, shown: Shown) -> str:
    """The first cell of a method's line."""
    title = plain_text(shown.title)
    return f"**{title}**" if shown.name == found.table.champion else title


def best_methods(measure: Measure, methods: Sequence[Shown]) -> list[str]:
    """Who has the best value; nobody without a direction, among oracles, or if all are equal."""
    values = {
        one.name: measure.better * measure.values[one.name].observed
        for one in methods
        if one.name in measure.values and one.group == "main"
    }
    if not measure.better or len(set(values.values())) < 2:
        return []
    return [name for name, value in values.items() if value == max(values.values())]
