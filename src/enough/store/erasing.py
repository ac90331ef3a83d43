"""What is deleted leaves the files, too.

SQLite: `secure_delete` overwrites freed pages with zeros (and nothing else ever held a text or a
vector, see `blocks`), but the old pages are still in the write-ahead log. Copying the log into the
file and cutting it to nothing ends that; it takes as long as the log is, not as the database is.
What can remain in a page of the file are digests of ids.

PostgreSQL: a deleted row's bytes stay in the table's files until the table is written anew; a plain
VACUUM only marks their room as free. `scrub` runs VACUUM FULL, which keeps everybody out of these
tables while it lasts, so it is not part of deleting. The server's own write-ahead log, its archive,
its replicas and backups keep what they have until they are recycled; no client can change that.
"""

from __future__ import annotations

import time

from enough.errors import StoreBusyError
from enough.store.database import Database
from enough.store.tables import WITH_RECORDS


def finish_deletion(database: Database, patience_s: float | None = None) -> None:
    """What follows every deletion, and every opening after a process was killed in between."""
    if database.is_sqlite:
        _cut_log(database, database.config.wait_s if patience_s is None else patience_s)


def scrub(database: Database) -> None:
    """Leave no byte of anything deleted in the database's files."""
    if database.is_sqlite:
        _cut_log(database, database.config.wait_s)
    else:
        names = (table.name for table in WITH_RECORDS)
        database.outside(*(f"VACUUM (FULL) {name}" for name in names), "CHECKPOINT")


def _cut_log(database: Database, patience_s: float) -> None:
    patience = time.monotonic() + patience_s
    wait_ms = int(database.config.wait_s * 1000)
    while True:
        _, ((busy, _, _),), _ = database.outside(
            "PRAGMA busy_timeout=20",  # we do the waiting: it would stop everybody's writing
            "PRAGMA wal_checkpoint(TRUNCATE)",
            f"PRAGMA busy_timeout={wait_ms}",
        )
        if not busy:
            return
        if time.monotonic() > patience:
            raise StoreBusyError(
                f"{database.shown}: the records are deleted, but a copy is still in the -wal file "
                "because somebody is reading; delete again or call scrub"
            )
        time.sleep(0.005)
