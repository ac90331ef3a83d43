"""A database with transactions that read one snapshot or write all or nothing.

In: a `StoreConfig`. Out: connections of SQLAlchemy Core, on SQLite or PostgreSQL; errors leave as
`StoreError`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Select, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from enough.errors import ConfigError, StoreBusyError, StoreUnavailableError
from enough.store.blocks import PAGE
from enough.store.config import StoreConfig
from enough.store.faults import Translated

log = logging.getLogger(__name__)

_WRITES = "enough_writes"
_BINARY = "enough_binary"


class Database:
    """An engine, and what must be done the same way everywhere."""

    def __init__(self, config: StoreConfig) -> None:
        self.config = config
        self._writer = threading.Lock()
        self._written: dict[Select[Any], tuple[str, tuple[str, ...] | None]] = {}
        url = _url(config)
        self.shown = url.render_as_string(hide_password=True)
        if config.is_postgresql:
            self.engine = _postgresql(url, config)
        else:
            self.path = Path(config.database)
            self.shown = str(self.path)
            self.engine = _sqlite(url, config)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of our own."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """All that is read in here is of one moment."""
        options: dict[str, Any] = {_WRITES: False}
        if not self.is_sqlite:
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._translated(), self.engine.connect() as plain:
            connection = plain.execution_options(**options)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Committed, and on disk, when it is left; nothing of it is there after an exception."""
        with self._turn(), self._translated(), self.engine.connect() as plain:
            connection = plain.execution_options(**{_WRITES: True})
            with connection.begin():
                yield connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """On SQLite one writes at a time; who waits holds no connection that a reader could use."""
        if not self.is_sqlite:
            yield
            return
        if not self._writer.acquire(timeout=self.config.wait_s):
            raise StoreBusyError(f"{self.shown}: others are writing; try again")
        try:
            yield
        finally:
            self._writer.release()

    def row(self, statement: Select[Any], values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """The only row of a statement that is made once, in the driver's own types.

        Nothing else is read at the same moment, so on SQLite there is no transaction: a sixth of
        the time.
        """
        if (known := self._written.get(statement)) is None:
            compiled: Any = statement.compile(dialect=self.engine.dialect)
            names = tuple(compiled.positiontup) if compiled.positional else None
            known = self._written[statement] = (str(compiled), names)
        sql, names = known
        given = values if names is None else [values[name] for name in names]
        with self._driver() as driver:
            found: tuple[Any, ...] | None = driver.execute(sql, given).fetchone()
        return found

    def outside(self, *statements: str) -> list[list[Any]]:
        """Run statements that no transaction may hold; their rows, one list for each."""
        found: list[list[Any]] = []
        with self._driver() as driver:
            if not self.is_sqlite:
                driver.autocommit = True
            for statement in statements:
                cursor = driver.execute(statement)
                found.append(cursor.fetchall() if cursor.description else [])
            if not self.is_sqlite:
                driver.autocommit = False
        return found

    @contextmanager
    def _driver(self) -> Iterator[Any]:
        """A connection as the driver has it."""
        with self._translated():
            held = self.engine.raw_connection()
            try:
                yield held.driver_connection
            except BaseException:
                held.invalidate()  # who knows in which state it is
                raise
            finally:
                held.close()

    def _translated(self) -> AbstractContextManager[None]:
        return Translated(self.shown, self.engine.dialect.loaded_dbapi.Error)

    def close(self) -> None:
        """Close all connections that are not in use; the rest when they come back."""
        self.engine.dispose()


def binary(connection: Connection) -> Connection:
    """The same connection, answering in bytes where the driver would otherwise write them out."""
    return connection.execution_options(**{_BINARY: True})


def _url(config: StoreConfig) -> URL:
    if not config.is_postgresql:
        if "://" in config.database:
            raise ConfigError("store.database must be a file or a URL postgresql://...")
        return URL.create("sqlite", database=config.database)
    try:
        url = make_url(config.database)
    except (ArgumentError, ValueError):  # its message would show the password
        raise ConfigError("store.database is not a URL postgresql://user@host/name") from None
    return url.set(drivername="postgresql+psycopg")


def _sqlite(url: URL, config: StoreConfig) -> Engine:
    path = Path(config.database)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            log.info("a new, empty store: %s", path.resolve())
        path.touch(mode=0o600)  # SQLite gives its other files the same rights
    except OSError as error:
        raise StoreUnavailableError(f"{path}: {error.strerror}; name another file") from None
    engine = create_engine(
        url,
        connect_args={"timeout": config.wait_s, "check_same_thread": False},
        pool_size=config.connections,
        max_overflow=0,
        pool_timeout=config.wait_s,
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver begins no transaction, we do
        for setting in (
            f"busy_timeout={int(config.wait_s * 1000)}",
            f"page_size={PAGE}",  # what the layout of blocks relies on
            "synchronous=FULL",  # what is acknowledged survives a power cut
            "foreign_keys=ON",
            "secure_delete=ON",
            "temp_store=MEMORY",  # no user's text in temporary files
            f"mmap_size={1 << 30}",  # pages are read without a copy: a third of the time
        ):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer takes its turn before it reads, so that it never has to give up half-way.
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL, config: StoreConfig) -> Engine:
    from psycopg.pq import Format  # noqa: PLC0415 (only with a server)

    wait_ms = int(config.wait_s * 1000)
    engine = create_engine(
        url,
        connect_args={
            "connect_timeout": max(2, round(config.wait_s)),
            "tcp_user_timeout": wait_ms,  # of a server that has stopped answering
        },
        pool_size=config.connections,
        max_overflow=0,
        pool_timeout=config.wait_s,
        pool_pre_ping=True,  # after a restart of the server the next call works
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        connection.execute(f"SET lock_timeout = {wait_ms}; SET synchronous_commit = on")
        connection.commit()

    @event.listens_for(engine, "before_cursor_execute")
    def _answer_in_bytes(
        _connection: object, cursor: Any, _sql: object, _values: object, context: Any, _many: object
    ) -> None:
        if context is not None and context.execution_options.get(_BINARY):
            cursor.format = Format.BINARY

    return engine
