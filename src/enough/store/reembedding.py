"""Vectors of another encoder in place of the old ones, block by block, while both are served.

In: a database, an owner, the new embedder. Out: how many records were embedded. New vectors are
written beside the old ones; each names the version of the texts it belongs to. When every block has
its own, one transaction makes them the owner's and deletes the others.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete

from enough.errors import StoreBusyError
from enough.store.block_embedding import embed_block, outdated
from enough.store.database import Database
from enough.store.owners import OwnerRow, change_owner, find_owner
from enough.store.record_store import Embedder
from enough.store.tables import digest, vector_block
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
            done += embed_block(database, owner, embedder, block)
        with database.writing() as connection:
            row = find_owner(connection, owner, lock=True)
            if row is not None and not outdated(connection, row, key):
                _switch(connection, row, embedder.fingerprint)
    raise StoreBusyError("this user is written to all the time; call reembed again")


def _switch(connection: Connection, row: OwnerRow, fingerprint: str) -> None:
    v = vector_block.c
    # Of others too, where a change to a third encoder was begun and never finished.
    connection.execute(
        delete(vector_block).where(v.owner_id == row.id, v.encoder_key != digest(fingerprint))
    )
    change_owner(connection, row, fingerprint=fingerprint)
