"""Rows in Parquet: frozen dataclasses of plain values, possibly nested.

In: rows, their class and the settings they were made with. Out: a file that appears whole, and the
same rows back. Columns follow from the fields, so a file without rows reads back typed, too; a
field that is itself a dataclass becomes columns with its name in front. The settings lie in the
metadata as JSON.
"""

from __future__ import annotations

import dataclasses
import functools
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


def write_parquet(
    path: Path, kind: type[R], rows: Sequence[R], settings: Mapping[str, object]
) -> None:
    """Write rows of a class."""
    arrow, parquet = _arrow()
    metadata = {_SETTINGS: json.dumps(settings, sort_keys=True)}
    schema = _schema(arrow, kind).with_metadata(metadata)
    table = arrow.Table.from_pylist([_flat(row) for row in rows], schema=schema)
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def read_parquet(path: Path, kind: type[R]) -> list[R]:
    """All rows of a file.

    Raises:
        DataError: if it holds something else, naming what is wrong.
    """
    arrow, parquet = _arrow()
    wanted = _schema(arrow, kind)
    try:
        table = parquet.read_table(io.BytesIO(path.read_bytes()))
    except (OSError, arrow.ArrowException) as error:
        raise DataError(f"cannot be read: {error}", path=path) from None
    for column in wanted:
        if column.name not in table.column_names:
            raise DataError("has no such column", path=path, field=column.name)
        if table.schema.field(column.name).type != column.type:
            raise DataError(f"must be of type {column.type}", path=path, field=column.name)
    return [_built(kind, plain) for plain in table.select(wanted.names).to_pylist()]


def read_settings(path: Path) -> dict[str, Any]:
    """The settings a file of rows was made with."""
    arrow, parquet = _arrow()
    try:
        metadata = parquet.read_schema(io.BytesIO(path.read_bytes())).metadata or {}
        settings = json.loads(metadata[_SETTINGS])
    except (OSError, arrow.ArrowException, KeyError, ValueError) as error:
        raise DataError(f"settings cannot be read: {error}", path=path) from None
    if not isinstance(settings, dict):
        raise DataError("settings must be one JSON object", path=path)
    return settings


def _schema(arrow: Any, kind: type[Any]) -> Any:
    return arrow.schema(
        [
            arrow.field(name, _arrow_type(arrow, of), is_optional)
            for name, of, is_optional in _columns(kind)
        ]
    )


@functools.cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)  # slow, and wanted for every row


def _columns(kind: type[Any], prefix: str = "") -> Iterator[tuple[str, Any, bool]]:
    """Names of columns, their plain types, and whether a value may be missing."""
    hints = _hints(kind)  # type: ignore[arg-type]
    for field in dataclasses.fields(kind):
        of, is_optional = _plain_type(hints[field.name])
        if dataclasses.is_dataclass(of):
            yield from _columns(of, f"{prefix}{field.name}_")  # type: ignore[arg-type]
        else:
            yield f"{prefix}{field.name}", of, is_optional


def _plain_type(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (Union, types.UnionType):
        return next(one for one in get_args(hint) if one is not type(None)), True
    return hint, False


def _arrow_type(arrow: Any, of: Any) -> Any:
    if get_origin(of) is tuple:
        return arrow.list_(_arrow_type(arrow, get_args(of)[0]))
    if get_origin(of) is Mapping:
        return arrow.map_(*(_arrow_type(arrow, part) for part in get_args(of)))
    of_plain = {str: arrow.string, int: arrow.int64, float: arrow.float64, bool: arrow.bool_}
    return of_plain[of]()


def _flat(row: Any, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        if dataclasses.is_dataclass(value):
            flat |= _flat(value, f"{prefix}{field.name}_")
        else:
            name = f"{prefix}{field.name}"
            flat[name] = list(value.items()) if isinstance(value, Mapping) else value
    return flat


def _built(kind: type[R], plain: Mapping[str, Any], prefix: str = "") -> R:
    hints = _hints(kind)  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        of, _ = _plain_type(hints[field.name])
        if dataclasses.is_dataclass(of):
            values[field.name] = _built(of, plain, f"{prefix}{field.name}_")  # type: ignore[arg-type]
            continue
        value = plain[f"{prefix}{field.name}"]
        if isinstance(value, list):  # as Parquet has tuples, and mappings as pairs
            value = dict(value) if get_origin(of) is Mapping else tuple(value)
        values[field.name] = value
    return kind(**values)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # noqa: PLC0415 (an extra)
        from pyarrow import parquet  # noqa: PLC0415 (an extra)
    except ImportError:
        raise MissingExtraError("rows in Parquet", "eval") from None
    return pyarrow, parquet
