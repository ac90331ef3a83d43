"""A key-value file that several processes share and no kill can damage: SQLite in WAL mode.

In: 16-byte keys and short byte values. Out: the values that are there. A batch is written in one
transaction, so after SIGKILL it is there whole or not at all; each row also carries a checksum, so
that a damaged disk is noticed instead of believed. Scores and embeddings both live in such files.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from enough.errors import CacheError

_FORMAT = 1
_PATIENCE_S = 60.0  # while others write
_BATCH = 500  # below SQLite's limit on bound variables in every build


def cache_root() -> Path:
    """Where caches and converted models live: $ENOUGH_CACHE, or the user's cache folder."""
    return Path(os.environ.get("ENOUGH_CACHE") or platformdirs.user_cache_dir("enough"))


def cache_key(*parts: bytes | str) -> bytes:
    """A 16-byte key of the parts; their lengths are hashed too, so ("ab", "c") != ("a", "bc")."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.digest()


class _Held:
    """A thread's connection; it is closed when the thread, or the cache, is no more."""

    def __init__(self, process: int, connection: sqlite3.Connection) -> None:
        self.process, self.connection = process, connection
        # Not `__del__`: in a cycle the connection could be torn down first, and would complain.
        weakref.finalize(self, connection.close).atexit = False


class DiskCache:
    """A persistent mapping bytes -> bytes.

    Safe to use from several threads and processes at once. A fork closes the connection of the
    thread that forks; SQLite's own must never be carried into a child.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        _OPEN.add(self)
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._translated():
            pass  # opens it, so that a wrong file is told of at once

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are in the cache."""
        found: dict[bytes, bytes] = {}
        wanted = list(keys)
        with self._translated() as connection:
            for start in range(0, len(wanted), _BATCH):
                batch = wanted[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                rows = connection.execute(
                    f"SELECT key, value, checksum FROM entry WHERE key IN ({marks})",
                    batch,
                )
                for key, value, checksum in rows:
                    if zlib.crc32(value, zlib.crc32(key)) != checksum:
                        raise CacheError(f"{self.path}: damaged entry; {_ADVICE}")
                    found[key] = value
        return found

    def put_many(self, entries: Mapping[bytes, bytes]) -> None:
        """Add entries, all or none. What is there already stays: values never change."""
        rows = [(k, v, zlib.crc32(v, zlib.crc32(k))) for k, v in entries.items()]
        with self._translated() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR IGNORE INTO entry VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")

    def __len__(self) -> int:
        with self._translated() as connection:
            (count,) = connection.execute("SELECT count(*) FROM entry").fetchone()
        return int(count)

    def check(self) -> None:
        """Read everything; raise if any page or entry is damaged."""
        with self._translated() as connection:
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                raise CacheError(f"{self.path}: {verdict}; {_ADVICE}")
            keys = [key for (key,) in connection.execute("SELECT key FROM entry")]
        self.get_many(keys)

    def close(self) -> None:
        """Close this thread's connection; the next call opens it again."""
        if (held := getattr(self._local, "held", None)) is not None:
            held.connection.close()
            del self._local.held

    @contextmanager
    def _translated(self) -> Iterator[sqlite3.Connection]:
        connection: sqlite3.Connection | None = None
        try:
            connection = self._connection()
            yield connection
        except sqlite3.OperationalError as error:
            raise CacheError(f"{self.path}: {error}; is the disk writable and not full?") from error
        except sqlite3.DatabaseError as error:
            raise CacheError(
                f"{self.path}: not a cache, or damaged ({error}); {_ADVICE}"
            ) from error
        finally:
            if connection is not None and connection.in_transaction:
                connection.execute("ROLLBACK")

    def _connection(self) -> sqlite3.Connection:
        held: _Held | None = getattr(self._local, "held", None)
        if held is not None and held.process == os.getpid():  # handles must not cross a fork
            return held.connection
        connection = sqlite3.connect(
            self.path,
            timeout=_PATIENCE_S,
            isolation_level=None,
            check_same_thread=False,  # one uses it, but perhaps another one closes it
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._local.held = _Held(os.getpid(), connection)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the file a cache if it is new; others may be doing the same."""
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("BEGIN")  # both from one moment
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("COMMIT")
        if found == _FORMAT:
            return
        if (found, tables) != (0, 0):
            raise CacheError(
                f"{self.path}: cache format {found}, this version reads {_FORMAT}; "
                "move the file away to start a new one"
            )
        _write_ahead(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS entry "
            "(key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID"
        )
        connection.execute(f"PRAGMA user_version={_FORMAT}")
        connection.execute("COMMIT")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL; of two that do so at once SQLite sends one away without waiting."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


_OPEN: weakref.WeakSet[DiskCache] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: [cache.close() for cache in _OPEN])  # type: ignore[func-returns-value]

_ADVICE = "delete the file and run again, its contents can be computed anew"
