"""Settings from environment variables, over those of a file.

In: ENOUGH_SERVE__PORT=9000, ENOUGH_SERVE__STORE__DATABASE=... Out: a `ServeConfig`. Tables are
separated by two underscores. Texts are taken as they are; numbers, true/false and lists as TOML
writes them. A variable that no setting has is an error, as an unknown key of a file is.
"""

from __future__ import annotations

import dataclasses
import tomllib
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from enough.config import from_table, read_toml
from enough.errors import ConfigError, UnknownNameError
from enough.service.config import ServeConfig

PREFIX = "ENOUGH_SERVE__"


def load_serve_config(path: Path | None, variables: Mapping[str, str]) -> ServeConfig:
    """The settings of a file, if there is one, and of the environment, which wins."""
    table = read_toml(path) if path is not None else {}
    named = sorted(name for name in variables if name.startswith(PREFIX))
    for name in named:
        _put(table, name, variables[name])
    where = str(path) if path is not None else "settings"
    return from_table(table, ServeConfig, f"{where} and the environment" if named else where)


def _put(table: dict[str, Any], name: str, text: str) -> None:
    *tables, key = name.removeprefix(PREFIX).lower().split("__")
    kind: Any = ServeConfig
    for inner in tables:
        kind = _plain(_type_of(kind, inner, name))
        if not dataclasses.is_dataclass(kind):
            raise ConfigError(f"{name}: {inner!r} is not a table")
        table = table.setdefault(inner, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{name}: {inner!r} is not a table in the file")
    table[key] = _value(text, _plain(_type_of(kind, key, name)), name)


def _type_of(kind: Any, key: str, name: str) -> Any:
    known = get_type_hints(kind)
    if key not in known:
        raise UnknownNameError(f"setting in the variable {name}", key, known)
    return known[key]


def _plain(kind: Any) -> Any:
    """The type without None."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(one for one in get_args(kind) if one is not type(None))
    return kind


def _value(text: str, kind: Any, name: str) -> Any:
    if kind in (str, Path) or get_origin(kind) is Literal:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        raise ConfigError(
            f"{name}: {text!r} is not a number, true, false or a list as TOML writes them"
        ) from None
