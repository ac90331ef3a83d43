"""Bring a database's tables to this version, whoever else is opening it at the same moment.

In: a `Database`. Out: nothing, or a `StoreFormatError` about a database that is not ours or newer.
"""

from __future__ import annotations

import threading
import time
from importlib import resources

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from enough.errors import StoreBusyError, StoreFormatError
from enough.store.database import Database
from enough.store.tables import VERSION_TABLE

_ALEMBIC = threading.Lock()  # it keeps what it works on in globals
_LOCK = 0x656E6F756768  # "enough": one migration at a time on a PostgreSQL server


def migrate(database: Database) -> None:
    """Create or upgrade the tables; nothing happens where they are up to date."""
    if database.is_sqlite:
        _write_ahead(database)
    config, script = _scripts()
    with database.reading() as connection:
        if _revision(connection, script, database) == script.get_current_head():
            return
    with _ALEMBIC, database.writing() as connection:  # SQLite: from here on we are alone
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if _revision(connection, script, database) != script.get_current_head():
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def _write_ahead(database: Database) -> None:
    """Switch the file to WAL, which it remembers.

    Of two that switch at once SQLite sends one away without waiting, whatever its timeout.
    """
    patience = time.monotonic() + database.config.wait_s
    while True:
        try:
            database.outside("PRAGMA journal_mode=WAL")
            return
        except StoreBusyError:
            if time.monotonic() > patience:
                raise
            time.sleep(0.02)


def _scripts() -> tuple[Config, ScriptDirectory]:
    config = Config()
    config.set_main_option("script_location", str(resources.files("enough.store") / "migrations"))
    return config, ScriptDirectory.from_config(config)


def _revision(connection: Connection, script: ScriptDirectory, database: Database) -> str | None:
    """Which version's tables these are; None for an empty database."""
    options = {"version_table": VERSION_TABLE}
    found = MigrationContext.configure(connection, opts=options).get_current_revision()
    known = {revision.revision for revision in script.walk_revisions()}
    if found is not None and found not in known:
        raise StoreFormatError(
            f"{database.shown}: made by a newer version (its tables are at {found!r}, this one "
            f"knows {max(known)!r}); upgrade enough, or name another database"
        )
    if found is None and database.is_sqlite and inspect(connection).get_table_names():
        raise StoreFormatError(f"{database.shown}: a database of something else; name another file")
    return found
