"""Vectors of another encoder in place of the old ones, block by block, while both are served.

In: a database, an owner, the new embedder. Out: how many records were embedded. New vectors are
written beside the old ones; each names the version of the texts it belongs to. When every block has
its own, one transaction makes them the owner's and deletes the others.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from enough.errors import StoreBusyError
from enough.store.blocks import lines_of, parse_line, vector_values
from enough.store.database import Database
from enough.store.embedding import checked_vectors
from enough.store.owners import OwnerRow, change_owner, find_owner
from enough.store.record_store import Embedder
from enough.store.tables import digest, text_block, vector_block
from enough.store.values import Owner

_ROUNDS = 1000  # of blocks that changed while they were embedded


def reembed(database: Database, owner: Owner, embedder: Embedder) -> int:
    """Embed what is not embedded yet, then switch."""
    key = digest(embedder.fingerprint)
    done = 0
    for _ in range(_ROUNDS):
        with database.reading() as connection:
            row = find_owner(connection, owner)
            if row is None or row.fingerprint == embedder.fingerprint:
                return done
            todo = outdated(connection, row, key)
        for block in todo:
            done += _embed_block(database, owner, embedder, block)
        with database.writing() as connection:
            row = find_owner(connection, owner, lock=True)
            if row is not None and not outdated(connection, row, key):
                _switch(connection, row, embedder.fingerprint)
    raise StoreBusyError(f"user {owner.user!r} is written to all the time; call reembed again")


def outdated(connection: Connection, row: OwnerRow, key: bytes) -> list[int]:
    """The blocks whose texts have no vectors of this encoder yet."""
    t, v = text_block.c, vector_block.c
    wanted = connection.execute(select(t.block, t.version).where(t.owner_id == row.id))
    own = select(v.block, v.version).where(v.owner_id == row.id, v.encoder_key == key)
    there = {block: version for block, version in connection.execute(own)}  # noqa: C416 (rows)
    return [block for block, version in wanted if there.get(block) != version]


def _embed_block(database: Database, owner: Owner, embedder: Embedder, block: int) -> int:
    t, v = text_block.c, vector_block.c
    with database.reading() as connection:
        if (row := find_owner(connection, owner)) is None:
            return 0
        read = select(t.version, t.data).where(t.owner_id == row.id, t.block == block)
        if (found := connection.execute(read).one_or_none()) is None:
            return 0
    records = [parse_line(line).record for line in lines_of(found.data)]
    vectors = checked_vectors(records, embedder)
    key = digest(embedder.fingerprint)
    with database.writing() as connection:
        current = find_owner(connection, owner, lock=True)
        if current is None or current.id != row.id:
            return 0  # erased meanwhile; nothing of it must come back
        version = connection.execute(
            select(t.version).where(t.owner_id == row.id, t.block == block)
        ).scalar()
        if version != found.version or current.fingerprint == embedder.fingerprint:
            return 0
        connection.execute(
            delete(vector_block).where(v.owner_id == row.id, v.encoder_key == key, v.block == block)
        )
        connection.execute(
            insert(vector_block).values(
                owner_id=row.id,
                encoder_key=key,
                block=block,
                version=version,
                **vector_values(vectors),
            )
        )
    return len(records)


def _switch(connection: Connection, row: OwnerRow, fingerprint: str) -> None:
    v = vector_block.c
    # Of others too, where a change to a third encoder was begun and never finished.
    connection.execute(
        delete(vector_block).where(v.owner_id == row.id, v.encoder_key != digest(fingerprint))
    )
    change_owner(connection, row, fingerprint=fingerprint)
