"""Open a store: the one function that needs to know which database it is.

In: a `StoreConfig`. Out: an open `SqlStore`, its tables brought up to date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enough.errors import MissingExtraError
from enough.store.config import StoreConfig

if TYPE_CHECKING:
    from enough.store.sql_store import SqlStore


def open_store(config: StoreConfig) -> SqlStore:
    """Open the database, make it where there is none, and migrate it where it is older.

    Open it in the process that uses it: connections must not be carried through a fork.

    Raises:
        MissingExtraError: without the extra `serve`.
        StoreFormatError: if it is not a store's, or a newer version's.
        StoreUnavailableError: if it cannot be reached or written.
    """
    try:
        from enough.store.sql_store import SqlStore  # noqa: PLC0415 (an extra)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("sqlalchemy", "alembic", "psycopg"):
            raise
        raise MissingExtraError("the store", "serve") from error
    return SqlStore.open(config)
