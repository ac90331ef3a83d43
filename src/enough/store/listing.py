"""Pages: an owner's records, a tenant's owners.

In: a connection, a cursor. Out: a page and the next cursor. Cursors are the sequence number of the
last record, or the row id of the last owner, so they survive whatever is added or deleted.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, func, select

from enough.errors import DataError
from enough.store.blocks import Placed, lines_of, parse_line
from enough.store.owners import OwnerRow
from enough.store.tables import owner as owner_table
from enough.store.tables import text_block
from enough.store.values import Owner, OwnerPage, OwnerSummary, Page

_BLOCKS = 8  # read at once; so many that a page of 100 is usually among them


def record_page(connection: Connection, row: OwnerRow, after: str | None, limit: int) -> Page:
    """Records after the cursor."""
    last = _position(after)
    found: list[Placed] = []
    for placed in _records_after(connection, row.id, last):
        if len(found) == limit:
            return Page(tuple(one.record for one in found), str(found[-1].sequence))
        found.append(placed)
    return Page(tuple(one.record for one in found), None)


def _records_after(connection: Connection, owner_id: int, last: int) -> Iterator[Placed]:
    t = text_block.c
    mine = t.owner_id == owner_id
    begins = connection.execute(select(func.max(t.block)).where(mine, t.block <= last)).scalar()
    block = -1 if begins is None else begins - 1
    while True:
        rows = connection.execute(
            select(t.block, t.data).where(mine, t.block > block).order_by(t.block).limit(_BLOCKS)
        ).all()
        for row in rows:
            for line in lines_of(row.data):
                placed = parse_line(line)
                if placed.sequence > last:
                    yield placed
        if len(rows) < _BLOCKS:
            return
        block = rows[-1].block


def owner_page(connection: Connection, tenant: str, after: str | None, limit: int) -> OwnerPage:
    """A tenant's owners after the cursor; the user's name is in its first record."""
    c = owner_table.c
    rows = connection.execute(
        select(c.id, c.task, c.fingerprint, c.records)
        .where(c.tenant == tenant, c.id > _position(after))
        .order_by(c.id)
        .limit(limit + 1)
    ).all()
    summaries = tuple(
        OwnerSummary(
            Owner(tenant, row.task, _name(connection, row.id)), row.records, row.fingerprint
        )
        for row in rows[:limit]
    )
    return OwnerPage(summaries, str(rows[limit - 1].id) if len(rows) > limit else None)


def _name(connection: Connection, owner_id: int) -> str:
    t = text_block.c
    first = select(t.data).where(t.owner_id == owner_id).order_by(t.block).limit(1)
    return parse_line(lines_of(connection.execute(first).scalar_one())[0]).record.owner


def _position(cursor: str | None) -> int:
    if cursor is None:
        return -1
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise DataError("not a cursor of this store; take it from the page before", field="after")
    return int(cursor)
