"""Tables as a page shows them, and as a spreadsheet reads them.

In: a `Table`. Out: cells of text, and CSV with all digits, where an interval has three columns.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from enough.diagnostics.sections import Column, Table, Value
from enough.evaluation.intervals import Interval
from enough.report.formats import Shown, shown


@dataclass(frozen=True, slots=True)
class Head:
    """A column as the page shows it."""

    title: str
    is_text: bool

    @property
    def classes(self) -> str:
        """For the page's style: a short title does not break."""
        return " ".join(["text"] * self.is_text + ["short"] * (len(self.title) <= 14))


@dataclass(frozen=True, slots=True)
class TableView:
    """What the page's template needs of a table."""

    heads: tuple[Head, ...]
    rows: tuple[tuple[tuple[Head, Shown], ...], ...]
    csv: str


def table_view(table: Table) -> TableView:
    """A table with its values written out.

    Raises:
        ValueError: for a number that cannot be shown, naming its column.
    """
    values = [tuple(row[i] for row in table.rows) for i in range(len(table.columns))]
    heads = tuple(map(_head, table.columns, values))
    rows = tuple(
        tuple(
            (head, _shown(value, column))
            for head, value, column in zip(heads, row, table.columns, strict=True)
        )
        for row in table.rows
    )
    return TableView(heads, rows, as_csv(table))


def as_csv(table: Table) -> str:
    """Comma-separated, with a line of titles; an empty field is a missing value."""
    values = [tuple(row[i] for row in table.rows) for i in range(len(table.columns))]
    is_wide = [any(isinstance(value, Interval) for value in column) for column in values]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    titles: list[str] = []
    for column, wide in zip(table.columns, is_wide, strict=True):
        titles += [column.title]
        titles += [f"{column.title} low", f"{column.title} high"] if wide else []
    writer.writerow(titles)
    for row in table.rows:
        fields: list[object] = []
        for value, wide in zip(row, is_wide, strict=True):
            fields += _fields(value, wide)
        writer.writerow(fields)
    return file.getvalue()


def _fields(value: Value, is_wide: bool) -> list[object]:
    if isinstance(value, Interval):
        return [value.mean, value.low, value.high]
    return [value, None, None] if is_wide else [value]


def _head(column: Column, values: tuple[Value, ...]) -> Head:
    return Head(column.title, column.format == "text" or any(isinstance(v, str) for v in values))


def _shown(value: Value, column: Column) -> Shown:
    try:
        return shown(value, column.format)
    except ValueError as error:
        raise ValueError(f"column {column.title!r}: {error}") from None
