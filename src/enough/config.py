"""TOML into frozen dataclasses, strictly.

In: a file and a dataclass (possibly of dataclasses). Out: an instance, defaults filled in. An
unknown key, a wrong type or an unreadable file is a ConfigError that names file and key. Building a
config has no side effect; each dataclass lives beside the code it configures. A key that is a word
of Python's own (`lambda`) is the field with an underscore after it (`lambda_`).
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from enough.errors import ConfigError, EnoughError, UnknownNameError

C = TypeVar("C")

LATER = {"later": True}
"""Metadata of a field with the default None that settings on disk may be older than: it is left out
of tables while it is None, so these still compare as equal."""


def load_config(path: Path, kind: type[C]) -> C:
    """Read a TOML file as an instance of the dataclass `kind`."""
    return from_table(read_toml(path), kind, str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None


def from_table(table: dict[str, Any], kind: type[C], where: str) -> C:
    """Build a dataclass from a parsed table."""
    types_of = get_type_hints(kind)
    fields = {key_of(name): name for name in types_of}
    values = {}
    for key, value in table.items():
        if key not in fields:
            raise UnknownNameError(f"key in {where}", key, fields)
        values[fields[key]] = _converted(value, types_of[fields[key]], f"{where}: {key}")
    required = {
        f.name
        for f in dataclasses.fields(kind)  # type: ignore[arg-type]
        if f.default is f.default_factory is dataclasses.MISSING
    }
    if missing := sorted(required - values.keys()):
        raise ConfigError(f"{where}: the key {key_of(missing[0])!r} is missing")
    try:
        return kind(**values)
    except EnoughError as error:  # from the dataclass's own checks, which do not know the file
        raise ConfigError(f"{where}: {error}") from None


def require_at_least(config: object, least: Mapping[str, float], table: str = "") -> None:
    """Refuse a dataclass with a field below its least value; for its own checks."""
    for name, bound in least.items():
        if not (value := getattr(config, name)) >= bound:  # refuses NaN, too
            raise ConfigError(f"{table}{name} must be at least {bound}, not {value}")


def plain(settings: Any) -> dict[str, Any]:
    """A dataclass of settings as JSON has it, under the keys of a file."""
    table = as_table(settings, key_of)
    found: dict[str, Any] = json.loads(json.dumps(table, default=str))
    return found


def as_table(settings: Any, key: Callable[[str], str] = str) -> Any:
    """A dataclass as `dataclasses.asdict` has it, without what came `LATER` and is not used."""
    if dataclasses.is_dataclass(settings):
        return {
            key(field.name): as_table(value, key)
            for field in dataclasses.fields(settings)
            if (value := getattr(settings, field.name)) is not None or "later" not in field.metadata
        }
    if isinstance(settings, list | tuple):
        return type(settings)(as_table(one, key) for one in settings)
    if isinstance(settings, dict):
        return {name: as_table(value, key) for name, value in settings.items()}
    return settings


def key_of(field: str) -> str:
    """How a field is written in a file."""
    return field.removesuffix("_")


def _converted(value: Any, want: Any, where: str) -> Any:  # noqa: PLR0911 (one return per kind)
    origin = get_origin(want)
    if origin in (Union, types.UnionType):
        return _converted(value, next(t for t in get_args(want) if t is not type(None)), where)
    if origin is Literal:
        if value not in get_args(want):
            raise ConfigError(f"{where} must be one of {', '.join(map(repr, get_args(want)))}")
        return value
    if origin is tuple and isinstance(value, list):
        inner = get_args(want)
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        if len(kinds) != len(value):
            raise ConfigError(f"{where} must have {len(kinds)} parts, not {len(value)}")
        each = zip(value, kinds, strict=True)
        return tuple(_converted(x, kind, f"{where}[{i}]") for i, (x, kind) in enumerate(each))
    if dataclasses.is_dataclass(want) and isinstance(value, dict):
        return from_table(value, want, where)  # type: ignore[arg-type]
    if want is Path and isinstance(value, str):
        return Path(value)
    if want is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if origin is None and isinstance(want, type) and type(value) is want:
        return value
    name = getattr(want, "__name__", str(want)) if origin is None else str(want)
    raise ConfigError(f"{where} must be of type {name}, not {value!r}")
