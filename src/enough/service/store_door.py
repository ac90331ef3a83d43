"""The store, opened when it can be: a service starts and goes on while the database is away.

In: a `StoreConfig`. Out: the open store, or `StoreUnavailableError` until it can be reached.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress

from enough.errors import StoreBusyError, StoreError, StoreUnavailableError
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.sql_store import SqlStore
from enough.store.values import Owner

log = logging.getLogger("enough.service")
_PAUSE_S = 1.0  # between two tries; opening can take as long as the database's own patience


class StoreDoor:
    """Opens the store once; asks again after a failure, not more than once a second."""

    def __init__(self, config: StoreConfig) -> None:
        self._config = config
        self._store: SqlStore | None = None
        self._failed = -_PAUSE_S
        self._lock = threading.Lock()
        try:
            self.open()
        except (StoreUnavailableError, StoreBusyError) as error:  # others are not going to pass
            log.warning("the store is away, asking again at every request: %s", error)

    @property
    def is_local(self) -> bool:
        """Whether the database is in this process: it answers without anybody else's turn."""
        return not self._config.is_postgresql

    def open(self) -> SqlStore:
        """The store.

        Raises:
            StoreUnavailableError: if it cannot be reached now.
        """
        if (known := self._store) is not None:
            return known
        with self._lock:
            if (known := self._store) is not None:  # somebody else was faster
                return known
            if time.monotonic() - self._failed < _PAUSE_S:
                raise StoreUnavailableError("the store was away a moment ago")
            try:
                self._store = open_store(self._config)
            except (StoreUnavailableError, StoreBusyError):
                self._failed = time.monotonic()
                raise
            return self._store

    def is_reachable(self) -> bool:
        """Whether a question is answered now."""
        try:
            self.open().count(Owner("-", "-", "-"))
        except StoreError:
            return False
        return True

    def close(self) -> None:
        """Let go of all connections."""
        with self._lock, suppress(StoreError):
            if self._store is not None:
                self._store.close()
