"""Every error a user can meet. Each message names the place and says what to do.

EnoughError
├── ConfigError          a TOML file or option: unknown key, wrong type, impossible value
├── DataError            a data file: names file, line and field
│   └── DownloadError    a file could not be fetched whole
├── UnknownNameError     a task, retriever or model that is not in its table
├── MissingExtraError    a feature whose optional dependency is not installed
├── ModelError           weights or tokenizer that are absent, altered or unsuitable
├── CacheError           a cache file that is damaged or of another version
├── BudgetError          a request whose empty prompt alone does not fit the window
└── StoreError           a store of records
    ├── StoreBusyError           others hold the database too long; try again
    ├── StoreUnavailableError    the server or the file cannot be reached or written
    │   └── StoreFullError       no space left
    ├── StoreFormatError         not a store's database, damaged, or a newer version's
    ├── RecordConflictError      another record under a known id
    ├── EncoderChangedError      stored vectors are another encoder's
    └── AccessError              an API key that is unknown or revoked
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class EnoughError(Exception):
    """Root of all errors raised on purpose; the CLI prints it without a traceback."""


class ConfigError(EnoughError):
    """A configuration file or option is wrong."""


class DataError(EnoughError):
    """A data file is wrong at a place we can name."""

    def __init__(
        self,
        problem: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        where = ":".join(str(part) for part in (path, line) if part is not None)
        named = f" (field {field!r})" if field else ""
        super().__init__(f"{where}: {problem}{named}" if where else f"{problem}{named}")
        self.path, self.line, self.field = path, line, field


class DownloadError(DataError):
    """A file could not be fetched whole."""


class UnknownNameError(EnoughError):
    """A name that is not in its table."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        super().__init__(f"unknown {kind} {name!r}{hint} Known: {', '.join(known)}.")


class MissingExtraError(EnoughError):
    """A feature needs an optional dependency."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra {extra!r}: pip install 'enough[{extra}]'")


class ModelError(EnoughError):
    """A model or tokenizer is absent, altered or unsuitable."""


class CacheError(EnoughError):
    """A cache file is damaged or of another version."""


class BudgetError(EnoughError):
    """A request's own prompt does not fit the generator's window."""


class StoreError(EnoughError):
    """A store of records could not do what was asked."""


class StoreBusyError(StoreError):
    """Others held the database for too long; trying again helps."""


class StoreUnavailableError(StoreError):
    """The database cannot be reached, read or written now."""


class StoreFullError(StoreUnavailableError):
    """There is no space left for the database."""


class StoreFormatError(StoreError):
    """A database that is not a store's, is damaged, or was made by a newer version."""


class RecordConflictError(StoreError):
    """A known id came with another record."""


class EncoderChangedError(StoreError):
    """Stored vectors are from another encoder than the one that is asked for."""


class AccessError(StoreError):
    """An API key opens nothing here. The message never holds the key."""
