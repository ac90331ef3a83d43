"""Further vectors of an owner's records, beside those they are searched by.

In: a database, an owner, an embedder with another fingerprint. Out: rows of `vector_block` under
that fingerprint, block by block; and the vectors of some records. They are a convenience: a row
counts only while it has the version of its block's texts, and deleting a record of a block deletes
the block's row, so whoever asks must be ready to find nothing. Records are only ever appended to a
block, so of a row that is behind the first vectors are still good.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from enough.protocols import Floats
from enough.records import Record
from enough.store.block_rows import blocks_with, in_batches
from enough.store.blocks import lines_of, parse_line, vector_values, vectors_of
from enough.store.database import Database
from enough.store.embedding import checked_vectors
from enough.store.owners import find_owner
from enough.store.record_store import Embedder
from enough.store.reembedding import outdated
from enough.store.tables import digest, text_block, vector_block
from enough.store.values import Owner

_t, _v = text_block.c, vector_block.c


def embed_beside(database: Database, owner: Owner, embedder: Embedder) -> int:
    """Bring all blocks up to date; how many records were embedded.

    What is written to meanwhile is left to the next call.
    """
    key = digest(embedder.fingerprint)
    with database.reading() as connection:
        row = find_owner(connection, owner)
        todo = [] if row is None else outdated(connection, row, key)
    return sum(_embed_block(database, owner, embedder, block) for block in todo)


def _embed_block(database: Database, owner: Owner, embedder: Embedder, block: int) -> int:
    key = digest(embedder.fingerprint)
    with database.reading() as connection:
        if (row := find_owner(connection, owner)) is None:
            return 0
        text = connection.execute(
            select(_t.version, _t.data).where(_t.owner_id == row.id, _t.block == block)
        ).one_or_none()
        if text is None:
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
        if version != text.version:
            return 0
        connection.execute(delete(vector_block).where(own))
        values = vector_values(vectors) | {"owner_id": row.id, "encoder_key": key, "block": block}
        connection.execute(insert(vector_block).values(version=version, **values))
    return len(records) - done


def vectors_beside(
    connection: Connection, owner_id: int, fingerprint: str, ids: Collection[str]
) -> list[tuple[Record, Floats]]:
    """These records and their vectors [dim], as far as they are there."""
    found: list[tuple[Record, Floats]] = []
    wanted = set(ids)
    for numbers in in_batches(blocks_with(connection, owner_id, ids)):
        rows = connection.execute(
            select(_t.data.label("texts"), _v.count, _v.dim, _v.data)
            .join(
                vector_block,
                (_v.owner_id == _t.owner_id) & (_v.block == _t.block) & (_v.version == _t.version),
            )
            .where(_t.owner_id == owner_id, _t.block.in_(numbers))
            .where(_v.encoder_key == digest(fingerprint))
        )
        for texts, count, dim, data in rows:
            records = (parse_line(line).record for line in lines_of(texts))
            pairs = zip(records, vectors_of(data, count, dim), strict=True)
            found += ((record, vector) for record, vector in pairs if record.id in wanted)
    return found
