"""The row of an owner: the only way from a tenant, a task and a user to anything else.

In: a connection and an `Owner`. Out: its row, locked where something is to be changed. Blocks and
places are reached by the row's id alone, which is found by the tenant and never used twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from enough.errors import EncoderChangedError
from enough.store.database import Database
from enough.store.tables import digest, name_bytes, name_text
from enough.store.tables import owner as table
from enough.store.values import Owner

_COLUMNS = (
    table.c.id,
    table.c.fingerprint,
    table.c.version,
    table.c.next_sequence,
    table.c.records,
)
# Made once: to write a statement takes as long as to run it.
_FIND = select(*_COLUMNS).where(
    table.c.tenant == bindparam("tenant"),
    table.c.user_key == bindparam("user_key"),
    table.c.task == bindparam("task"),
)
_FIND_LOCKED = _FIND.with_for_update()  # SQLite has one writer at a time anyway
_TRIES = 20


@dataclass(frozen=True, slots=True)
class OwnerRow:
    """What the database knows of an owner beside its blocks."""

    id: int
    fingerprint: str
    version: int
    next_sequence: int
    records: int

    @property
    def encoder_key(self) -> bytes:
        """Under which its vectors are found."""
        return digest(self.fingerprint)


def user_key(tenant: str, user: str) -> bytes:
    """Under which a user is found, in all tasks."""
    return digest("user", tenant, user)


def find_owner(connection: Connection, owner: Owner, *, lock: bool = False) -> OwnerRow | None:
    """The owner's row, or None if there are no records; locked until the transaction ends."""
    key = user_key(owner.tenant, owner.user)
    values = {"tenant": owner.tenant, "user_key": key, "task": owner.task}
    row = connection.execute(_FIND_LOCKED if lock else _FIND, values).one_or_none()
    return None if row is None else OwnerRow(*row)


def find_alone(database: Database, owner: Owner) -> OwnerRow | None:
    """The owner's row, where nothing else is read at the same moment."""
    values = {
        "tenant": name_bytes(owner.tenant),
        "user_key": user_key(owner.tenant, owner.user),
        "task": name_bytes(owner.task),
    }
    row = database.row(_FIND, values)
    return None if row is None else OwnerRow(row[0], name_text(row[1]), *row[2:])


def found_or_made(connection: Connection, owner: Owner, fingerprint: str) -> OwnerRow:
    """The owner's row, locked; a new one, without records yet, if there was none."""
    for _ in range(_TRIES):  # somebody may erase the owner between two statements
        if (row := find_owner(connection, owner, lock=True)) is not None:
            return row
        values = {
            "tenant": owner.tenant,
            "user_key": user_key(owner.tenant, owner.user),
            "task": owner.task,
            "fingerprint": fingerprint,
            "version": 0,
            "next_sequence": 0,
            "records": 0,
        }
        is_sqlite = connection.dialect.name == "sqlite"
        insert = sqlite.insert(table) if is_sqlite else postgresql.insert(table)
        connection.execute(insert.on_conflict_do_nothing().values(values))
    raise AssertionError("an owner was erased as often as it was made")


def change_owner(connection: Connection, row: OwnerRow, **values: object) -> None:
    """Write the row's new values under its next version; without records it is deleted."""
    if values.get("records") == 0:
        connection.execute(delete(table).where(table.c.id == row.id))
        return
    connection.execute(
        update(table).where(table.c.id == row.id).values(version=row.version + 1, **values)
    )


def require_encoder(owner: Owner, row: OwnerRow | None, fingerprint: str) -> None:
    """Refuse to mix vectors of two encoders."""
    if row is not None and row.fingerprint != fingerprint:
        raise EncoderChangedError(
            f"the {row.records} records of user {owner.user!r} in task {owner.task!r} were "
            f"embedded with {row.fingerprint!r}, not {fingerprint!r}; call reembed, or load "
            "that encoder"
        )
