"""Vectors of one block's records under one more encoder, written only if nothing changed meanwhile.

In: a database, an owner, an embedder, a block. Out: a row of `vector_block` under the embedder's
fingerprint, with the version of the texts it belongs to. Records are only ever appended to a block,
and deleting one deletes the block's rows of all encoders but the owner's own, so of a row that is
behind the first vectors are still good. Embedding is done outside any transaction.
"""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from enough.protocols import Floats
from enough.store.blocks import lines_of, parse_line, vector_values, vectors_of
from enough.store.database import Database
from enough.store.embedding import checked_vectors
from enough.store.owners import OwnerRow, find_owner
from enough.store.record_store import Embedder
from enough.store.tables import digest, text_block, vector_block
from enough.store.values import Owner

_t, _v = text_block.c, vector_block.c


def outdated(connection: Connection, row: OwnerRow, key: bytes) -> list[int]:
    """The blocks whose texts have no vectors of this encoder yet."""
    wanted = connection.execute(select(_t.block, _t.version).where(_t.owner_id == row.id))
    own = select(_v.block, _v.version).where(_v.owner_id == row.id, _v.encoder_key == key)
    there = {block: version for block, version in connection.execute(own)}  # noqa: C416 (rows)
    return [block for block, version in wanted if there.get(block) != version]


def embed_block(database: Database, owner: Owner, embedder: Embedder, block: int) -> int:
    """How many records were embedded; 0 where the block was written to meanwhile, or is gone."""
    key = digest(embedder.fingerprint)
    with database.reading() as connection:
        if (row := find_owner(connection, owner)) is None:
            return 0
        read = select(_t.version, _t.data).where(_t.owner_id == row.id, _t.block == block)
        if (text := connection.execute(read).one_or_none()) is None:
            return 0
        own = (_v.owner_id == row.id) & (_v.encoder_key == key) & (_v.block == block)
        known = connection.execute(select(_v.count, _v.dim, _v.data).where(own)).one_or_none()
    records = [parse_line(line).record for line in lines_of(text.data)]
    parts: list[Floats] = []
    done = 0
    if known is not None:
        done, dim, data = known
        parts = [vectors_of(data, done, dim)]
    if done < len(records):
        parts.append(checked_vectors(records[done:], embedder))
    vectors = np.concatenate(parts)
    with database.writing() as connection:
        current = find_owner(connection, owner, lock=True)
        if current is None or current.id != row.id:
            return 0  # erased meanwhile; nothing of it must come back
        version = connection.execute(
            select(_t.version).where(_t.owner_id == row.id, _t.block == block)
        ).scalar()
        if version != text.version or current.fingerprint == embedder.fingerprint:
            return 0
        connection.execute(delete(vector_block).where(own))
        values = vector_values(vectors) | {"owner_id": row.id, "encoder_key": key, "block": block}
        connection.execute(insert(vector_block).values(version=version, **values))
    return len(records) - done
