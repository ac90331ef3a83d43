"""Tables and numbers as Markdown has them.

In: values with intervals. Out: text. A mean always stands with its interval, unless all three
print the same; negative numbers carry a minus sign.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from enough.diagnostics.sections import Format, Table, Value
from enough.evaluation.intervals import Estimate, Interval
from enough.report.formats import MISSING, number_text

_MARKUP = re.compile(r"([*|\[\]<>_`])")


def plain_text(text: str) -> str:
    """Text that Markdown takes for nothing else."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def in_words(found: Estimate | Interval, form: Format = "signed") -> str:
    """A mean with its interval, for a sentence."""
    one = found.interval if isinstance(found, Estimate) else found
    low, high = number_text(one.low, form), number_text(one.high, form)
    return f"{number_text(one.mean, form)} (95% interval {low} to {high})"


def cell(value: Value | Estimate, form: Format) -> str:
    """A cell of a table."""
    if isinstance(value, Estimate):
        value = value.interval
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    if not isinstance(value, Interval):
        return number_text(value, form)
    mean, low, high = (number_text(one, form) for one in (value.mean, value.low, value.high))
    return mean if mean == low == high else f"{mean} [{low}, {high}]"


def markdown_table(table: Table) -> str:
    """A table; text stands at the left, numbers at the right. Text cells are Markdown already."""
    heads = [column.title for column in table.columns]
    rules = ["---" if column.format == "text" else "---:" for column in table.columns]
    rows = (
        [cell(value, column.format) for value, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rules, *rows))


def joined(parts: Sequence[str]) -> str:
    """Paragraphs, tables and headings below each other; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)
