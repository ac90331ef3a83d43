"""Rows of any diagnostic in Parquet: frozen dataclasses of plain values, possibly nested.

In: rows, their class and the settings they were measured with. Out: a file that appears whole, and
the same rows back. Columns follow from the fields; a field that is itself a dataclass becomes
columns with its name in front. The settings lie in the metadata as JSON.
"""

from __future__ import annotations

import dataclasses
import io
import json
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from enough.errors import DataError, MissingExtraError
from enough.run_folders import write_whole

R = TypeVar("R")
_SETTINGS = b"enough"


def write_diagnostic(
    path: Path, kind: type[R], rows: Sequence[R], settings: Mapping[str, object]
) -> None:
    """Write rows of a class."""
    arrow, parquet = _arrow()
    columns = dict(_columns(kind))
    schema = arrow.schema(
        [
            arrow.field(name, _arrow_type(arrow, of), is_optional)
            for name, (of, is_optional) in columns.items()
        ],
        metadata={_SETTINGS: json.dumps(settings, sort_keys=True, default=str)},
    )
    table = arrow.Table.from_pylist([_flat(row) for row in rows], schema=schema)
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def read_diagnostic(path: Path, kind: type[R]) -> tuple[list[R], dict[str, Any]]:
    """Rows of a class, and the settings they were measured with.

    Raises:
        DataError: if the file is damaged, or holds something else.
    """
    arrow, parquet = _arrow()
    try:
        table = parquet.read_table(io.BytesIO(path.read_bytes()))
        settings = json.loads((table.schema.metadata or {})[_SETTINGS])
    except (OSError, arrow.ArrowException, KeyError, ValueError) as error:
        raise DataError(f"cannot be read: {error}; delete it to measure anew", path=path) from None
    for name in dict(_columns(kind)):
        if name not in table.column_names:
            raise DataError(
                "has no such column; delete the file to measure anew", path=path, field=name
            )
    return [_built(kind, plain) for plain in table.to_pylist()], settings


def _columns(kind: type[Any], prefix: str = "") -> Iterator[tuple[str, tuple[Any, bool]]]:
    """Column -> (its plain type, whether it may be missing)."""
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        of, is_optional = _plain_type(hints[field.name])
        if dataclasses.is_dataclass(of):
            yield from _columns(of, f"{prefix}{field.name}_")  # type: ignore[arg-type]
        else:
            yield f"{prefix}{field.name}", (of, is_optional)


def _plain_type(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (Union, types.UnionType):
        inner = [one for one in get_args(hint) if one is not type(None)]
        return inner[0], True
    return hint, False


def _arrow_type(arrow: Any, of: Any) -> Any:
    if get_origin(of) is tuple:
        return arrow.list_(_arrow_type(arrow, get_args(of)[0]))
    return {
        str: arrow.string(),
        int: arrow.int64(),
        float: arrow.float64(),
        bool: arrow.bool_(),
    }[of]


def _flat(row: Any, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        if dataclasses.is_dataclass(value):
            flat |= _flat(value, f"{prefix}{field.name}_")
        else:
            flat[f"{prefix}{field.name}"] = list(value) if isinstance(value, tuple) else value
    return flat


def _built(kind: type[R], plain: Mapping[str, Any], prefix: str = "") -> R:
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        of, _ = _plain_type(hints[field.name])
        if dataclasses.is_dataclass(of):
            values[field.name] = _built(of, plain, f"{prefix}{field.name}_")  # type: ignore[arg-type]
        else:
            value = plain[f"{prefix}{field.name}"]
            values[field.name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # noqa: PLC0415 (an extra)
        from pyarrow import parquet  # noqa: PLC0415 (an extra)
    except ImportError:
        raise MissingExtraError("rows of a diagnostic", "eval") from None
    return pyarrow, parquet
