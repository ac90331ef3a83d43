"""What a database says when something is wrong, as errors that say what to do.

In: an exception of SQLAlchemy. Out: the `StoreError` it stands for. No statement and no value of a
statement gets into a message: they hold users' texts.
"""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from enough.errors import (
    StoreBusyError,
    StoreError,
    StoreFormatError,
    StoreFullError,
    StoreUnavailableError,
)

# By the primary code, the low byte of SQLite's; sqlite.org/rescode.html
_SQLITE: dict[int, tuple[type[StoreError], str]] = {
    5: (StoreBusyError, "another writer holds it; try again"),
    6: (StoreBusyError, "another connection holds it; try again"),
    8: (StoreUnavailableError, "it cannot be written; check the owner and rights of the file"),
    10: (StoreUnavailableError, "the disk reports an error; check it, then restore a backup"),
    11: (StoreFormatError, "the file is damaged; restore a backup"),
    13: (StoreFullError, "the disk is full; make room and try again"),
    14: (StoreUnavailableError, "the file cannot be opened; check the path and its rights"),
    23: (StoreUnavailableError, "access to the file is denied; check its rights"),
    26: (StoreFormatError, "this is not a store's database; name another file"),
}
# By the class of a SQLSTATE, or all of it; postgresql.org/docs/current/errcodes-appendix.html
_POSTGRESQL: dict[str, tuple[type[StoreError], str]] = {
    "08": (StoreUnavailableError, "the connection broke; try again"),
    "28": (StoreUnavailableError, "the server refuses this user; check the URL"),
    "3D": (StoreUnavailableError, "the server has no such database; create it"),
    "40": (StoreBusyError, "another writer came between; try again"),
    "42501": (StoreUnavailableError, "this user may not do that; grant it the rights"),
    "53": (StoreUnavailableError, "the server is out of connections or memory; try again"),
    "53100": (StoreFullError, "the server's disk is full; make room and try again"),
    "55P03": (StoreBusyError, "another writer holds it; try again"),
    "57": (StoreUnavailableError, "the server is going down or coming up; try again"),
    "58": (StoreUnavailableError, "the server's disk reports an error; look at its log"),
    "XX001": (StoreFormatError, "the data is damaged; restore a backup"),
    "XX002": (StoreFormatError, "an index is damaged; REINDEX it or restore a backup"),
}
_UNREACHABLE = (StoreUnavailableError, "the server cannot be reached; is it running?")


class Translated(AbstractContextManager[None]):
    """Whatever the database complains about leaves here as a `StoreError`.

    As a generator it would cost several times as much, and it stands around every look-up.

    Args:
        database: as it may be shown, without a password.
        driver_error: what the driver raises where SQLAlchemy is not in between.
    """

    __slots__ = ("_database", "_driver_error")

    def __init__(self, database: str, driver_error: type[Exception]) -> None:
        self._database, self._driver_error = database, driver_error

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Say it our way; what is not the database's is left alone."""
        if isinstance(error, PoolTimeoutError):
            raise StoreBusyError(
                f"{self._database}: all connections are in use; try again"
            ) from None
        if isinstance(error, DBAPIError):
            # `from None`: the original message can hold the values of the statement.
            raise _known(error.orig, self._database, error.connection_invalidated) from None
        if isinstance(error, SQLAlchemyError):
            raise StoreError(f"{self._database}: {type(error).__name__}") from None
        if isinstance(error, self._driver_error):
            raise _known(error, self._database) from None


def _known(origin: BaseException | None, database: str, lost: bool = False) -> StoreError:
    if isinstance(origin, sqlite3.Error):
        code = getattr(origin, "sqlite_errorcode", None)
        kind, advice = _SQLITE.get((code or 0) & 0xFF, (StoreError, "see the log"))
        said = getattr(origin, "sqlite_errorname", type(origin).__name__)
        return kind(f"{database}: {advice} ({said})")
    state = str(getattr(origin, "sqlstate", None) or "")
    if not state or lost:
        kind, advice = _UNREACHABLE
    else:
        kind, advice = _POSTGRESQL.get(
            state, _POSTGRESQL.get(state[:2], (StoreError, "see the server's log"))
        )
    return kind(f"{database}: {advice} ({state or type(origin).__name__})")
