"""Records out of blocks, in the caller's transaction.

In: an owner and ids, or a whole user. Out: whose rows changed and how many records are gone. Making
the bytes unreadable, too, is `erasing`'s part.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, delete, select

from enough.store.appending import block_vectors, put_block
from enough.store.block_rows import blocks_with, id_key, in_batches, texts
from enough.store.blocks import parse_line
from enough.store.owners import OwnerRow, change_owner, find_owner, user_key
from enough.store.tables import owner as owner_table
from enough.store.tables import place, text_block, vector_block
from enough.store.values import Owner


@dataclass(frozen=True, slots=True)
class Deleted:
    """What is gone.

    Attributes:
        owners: ids of the rows it was taken from.
        records: how many.
        version: the first of the owner that is without them; None where the owner is gone.
    """

    owners: tuple[int, ...] = ()
    records: int = 0
    version: int | None = None


def delete_records(connection: Connection, owner: Owner, ids: Collection[str]) -> Deleted:
    """Take records out of their blocks; an owner without records goes, too."""
    row = find_owner(connection, owner, lock=True)
    if row is None:
        return Deleted()
    wanted = set(ids)
    gone: set[str] = set()
    blocks = texts(connection, row.id, blocks_with(connection, row.id, wanted))
    for block, lines in blocks.items():
        identities = [parse_line(line).record.id for line in lines]
        kept = [i for i, identity in enumerate(identities) if identity not in wanted]
        gone.update(identities[i] for i in range(len(lines)) if identities[i] in wanted)
        _shrink(connection, row, block, [lines[i] for i in kept], kept)
    if not gone:
        return Deleted()
    for keys in in_batches(id_key(identity) for identity in gone):
        connection.execute(
            delete(place).where(place.c.owner_id == row.id, place.c.id_key.in_(keys))
        )
    change_owner(connection, row, records=row.records - len(gone))
    return Deleted((row.id,), len(gone), row.version + 1 if len(gone) < row.records else None)


def _shrink(
    connection: Connection, row: OwnerRow, block: int, lines: list[bytes], kept: list[int]
) -> None:
    c = vector_block.c
    where = (c.owner_id == row.id) & (c.block == block)
    if not lines:
        connection.execute(delete(vector_block).where(where))
        connection.execute(delete(text_block).filter_by(owner_id=row.id, block=block))
        return
    # An encoder that is still being changed to has vectors of this block, too: it makes them anew.
    connection.execute(delete(vector_block).where(where, c.encoder_key != row.encoder_key))
    vectors = block_vectors(connection, row, block)[np.asarray(kept)]
    put_block(connection, row, block, lines, vectors, exists=True)


def delete_whole(connection: Connection, owner: Owner) -> Deleted:
    """Everything of one owner."""
    row = find_owner(connection, owner, lock=True)
    if row is None:
        return Deleted()
    connection.execute(delete(owner_table).where(owner_table.c.id == row.id))  # cascades
    return Deleted((row.id,), row.records)


def delete_everywhere(connection: Connection, tenant: str, user: str) -> Deleted:
    """Everything of one user of a tenant, in all tasks."""
    c = owner_table.c
    where = (c.tenant == tenant) & (c.user_key == user_key(tenant, user))
    rows = connection.execute(select(c.id, c.records).where(where).with_for_update()).all()
    connection.execute(delete(owner_table).where(where))
    return Deleted(tuple(row.id for row in rows), sum(row.records for row in rows))
