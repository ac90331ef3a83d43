"""Further vectors of an owner's records, beside those they are searched by.

In: a database, an owner, an embedder with another fingerprint. Out: rows of `vector_block` under
that fingerprint, block by block; and the vectors of some records. They are a convenience: a row
counts only while it has the version of its block's texts, and deleting a record of a block deletes
the block's row, so whoever asks must be ready to find nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from enough.protocols import Floats
from enough.records import Record
from enough.store.block_embedding import embed_block, outdated
from enough.store.block_rows import blocks_with, in_batches
from enough.store.blocks import lines_of, parse_line, vectors_of
from enough.store.database import Database
from enough.store.owners import find_owner
from enough.store.record_store import Embedder
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
    return sum(embed_block(database, owner, embedder, block) for block in todo)


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
