"""The main table as plain values, for JSON.

In: a `MainTable`. Out: dictionaries and lists; metrics by task and name.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from enough.evaluation.table_values import Cell, Line, MainTable


def as_plain(table: MainTable) -> dict[str, Any]:
    """All lines and comparisons."""
    return {
        "setup": dataclasses.asdict(table.setup),
        "champion": table.champion,
        "requests": dict(table.requests),
        "runs": table.runs,
        "methods": [_line(line) for line in table.lines],
        "comparisons": [
            {"task": column.task, "metric": column.metric, **dataclasses.asdict(one)}
            for column, compared in table.comparisons.items()
            for one in compared
        ],
    }


def _line(line: Line) -> dict[str, Any]:
    metrics: dict[str, dict[str, Any]] = {}
    for column, cell in line.cells.items():
        metrics.setdefault(column.task, {})[column.metric] = _cell(cell)
    kept = [f.name for f in dataclasses.fields(line) if f.name not in {"shown", "cells"}]
    values = {name: _value(getattr(line, name)) for name in kept}
    return {**dataclasses.asdict(line.shown), "metrics": metrics, **values}


def _cell(cell: Cell) -> dict[str, Any]:
    return {"value": cell.value, "sd": cell.sd, "marks": cell.marks}


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _value(inner) for name, inner in value.items()}
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore[arg-type]
