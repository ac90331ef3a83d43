"""The store on SQLite or PostgreSQL: one snapshot per answer.

In: a `StoreConfig`. Out: `SqlStore`, a `RecordStore` with its `keys`. The work is done by functions
on a connection (`appending`, `listing`, `search`, `deleting`, `reembedding`, `erasing`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

import numpy as np
from sqlalchemy import Connection, select

from enough.errors import DataError, StoreBusyError
from enough.protocols import Floats
from enough.records import Candidate, History, Pool, Record
from enough.store import beside, erasing, reembedding
from enough.store.appending import add, distinct, not_stored
from enough.store.block_rows import blocks_with, in_batches, records_in, source_key, texts
from enough.store.blocks import parse_line
from enough.store.config import StoreConfig
from enough.store.database import Database
from enough.store.deleting import Deleted, delete_everywhere, delete_records, delete_whole
from enough.store.embedding import checked_vectors
from enough.store.listing import owner_page, record_page
from enough.store.migrating import migrate
from enough.store.owners import OwnerRow, find_alone, find_owner, require_encoder
from enough.store.record_store import Embedder
from enough.store.search import Hit, best
from enough.store.shelves import Shelf, Shelves
from enough.store.sql_keys import SqlKeys
from enough.store.tables import owner as owner_table
from enough.store.tables import place
from enough.store.values import Owner, OwnerPage, Page, StoredVectors

_COMMITTED_TOGETHER = 1024  # records; others write in between


class SqlStore:
    """Records, vectors and keys in one database; `opening.open_store` makes it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._shelves = Shelves(database.config.cache_mb * 1_000_000)
        self.keys = SqlKeys(database)

    @classmethod
    def open(cls, config: StoreConfig) -> SqlStore:
        """Open the database and bring its tables up to date."""
        database = Database(config)
        try:
            migrate(database)
            # For a process that was killed between deleting and erasing. Where others are at work
            # it has to wait for the next deletion.
            with suppress(StoreBusyError):
                erasing.finish_deletion(database, patience_s=0)
        except BaseException:
            database.close()
            raise
        return cls(database)

    def append(self, owner: Owner, records: Sequence[Record], embedder: Embedder) -> int:
        """Add records after those that are there; how many were new."""
        given = distinct(owner, records)
        with self._database.reading() as connection:
            row = find_owner(connection, owner)
            require_encoder(owner, row, embedder.fingerprint)
            new = not_stored(connection, row, given)
        added = 0
        for start in range(0, len(new), _COMMITTED_TOGETHER):
            part = new[start : start + _COMMITTED_TOGETHER]
            vectors = checked_vectors(part, embedder)  # before the turn to write is taken
            with self._database.writing() as connection:
                added += add(connection, owner, part, vectors, embedder.fingerprint)
        return added

    def page(self, owner: Owner, *, after: str | None = None, limit: int = 100) -> Page:
        """Records in the order they were appended, from a cursor on."""
        _require_positive(limit)
        with self._database.reading() as connection:
            row = find_owner(connection, owner)
            return Page((), None) if row is None else record_page(connection, row, after, limit)

    def read(self, owner: Owner, ids: Collection[str]) -> History:
        """The records with these ids, as far as they are there, in the order of appending."""
        wanted = set(ids)
        return self._matching(
            owner,
            lambda connection, row: blocks_with(connection, row.id, wanted),
            lambda record: record.id in wanted,
        )

    def about(self, owner: Owner, item: str) -> History:
        """The records whose id or source item this is."""

        def blocks(connection: Connection, row: OwnerRow) -> set[int]:
            c = place.c
            same = select(c.block).where(c.owner_id == row.id, c.source_key == source_key(item))
            return blocks_with(connection, row.id, [item]) | set(connection.execute(same).scalars())

        return self._matching(owner, blocks, lambda record: item in (record.id, record.source_id))

    def count(self, owner: Owner) -> int:
        """How many records the owner has."""
        with self._database.reading() as connection:
            row = find_owner(connection, owner)
            return 0 if row is None else row.records

    def owners(self, tenant: str, *, after: str | None = None, limit: int = 100) -> OwnerPage:
        """Who has records with this tenant."""
        _require_positive(limit)
        with self._database.reading() as connection:
            return owner_page(connection, tenant, after, limit)

    def vectors(self, owner: Owner, fingerprint: str) -> StoredVectors:
        """All vectors of an owner."""
        with self._database.reading() as connection:
            row = find_owner(connection, owner)
            require_encoder(owner, row, fingerprint)
            if row is None:
                return StoredVectors((), np.empty((0, 0), np.float32))
            shelf = self._shelves.of(connection, row)
            placed = records_in(connection, row.id, [one.block for one in shelf.blocks])
            ids = tuple(one.record.id for one in placed)
        return StoredVectors(ids, np.concatenate([one.vectors for one in shelf.blocks]))

    def nearest(
        self, owner: Owner, query: Floats, fingerprint: str, limit: int, *, skip: int = 0
    ) -> Pool:
        """The records nearest to a query vector [dim], best first, ties in order of appending."""
        row = find_alone(self._database, owner)
        require_encoder(owner, row, fingerprint)
        if row is None:
            return ()
        hits: list[Hit] = []
        if (held := self._shelves.held(row)) is not None:
            hits = best(held, query, max(skip, 0), limit)
            records = held.records.all_at([(block, line) for block, line, _ in hits])
            if records is not None:  # nothing else is asked of the database
                return _pool(records, hits)
        with self._database.reading() as connection:
            row = find_owner(connection, owner)
            require_encoder(owner, row, fingerprint)
            if row is None:
                return ()
            shelf = self._shelves.of(connection, row)
            if shelf is not held:
                hits = best(shelf, query, max(skip, 0), limit)
            found = self._records(connection, row, shelf, [(hit.block, hit.line) for hit in hits])
        return _pool(found, hits)

    def reembed(self, owner: Owner, embedder: Embedder) -> int:
        """Replace all vectors by those of another encoder; how many were computed."""
        return reembedding.reembed(self._database, owner, embedder)

    def embed_beside(self, owner: Owner, embedder: Embedder) -> int:
        """Further vectors of all records, under another fingerprint; how many were computed."""
        return beside.embed_beside(self._database, owner, embedder)

    def beside(
        self, owner: Owner, fingerprint: str, ids: Collection[str]
    ) -> list[tuple[Record, Floats]]:
        """These records with their further vectors, as far as those are there."""
        with self._database.reading() as connection:
            if (row := find_owner(connection, owner)) is None:
                return []
            return beside.vectors_beside(connection, row.id, fingerprint, ids)

    def delete(self, owner: Owner, ids: Collection[str]) -> int:
        """Erase records and their vectors; how many were there."""
        return self._erased(lambda connection: delete_records(connection, owner, ids))

    def delete_owner(self, owner: Owner) -> int:
        """Erase everything of a user in one task; how many records there were."""
        return self._erased(lambda connection: delete_whole(connection, owner))

    def delete_user(self, tenant: str, user: str) -> int:
        """Erase everything of a user in all tasks; how many records there were."""
        return self._erased(lambda connection: delete_everywhere(connection, tenant, user))

    def scrub(self) -> None:
        """Leave no byte of anything deleted in the database's files."""
        erasing.scrub(self._database)

    def forget_changed(self) -> int:
        """Drop what this process remembers of owners that others changed; how many these were.

        Nothing outdated is ever served without it. It is for memory: a user that another process
        erased should not stay in this one's for long.
        """
        held = self._shelves.versions()
        current: dict[int, int] = {}
        with self._database.reading() as connection:
            c = owner_table.c
            for ids in in_batches(held):
                rows = connection.execute(select(c.id, c.version).where(c.id.in_(ids)))
                current.update((owner_id, version) for owner_id, version in rows)
        gone = [owner_id for owner_id, version in held.items() if current.get(owner_id) != version]
        for owner_id in gone:
            self._shelves.drop([owner_id], current.get(owner_id))
        return len(gone)

    def close(self) -> None:
        """Let go of all connections."""
        self._database.close()

    def _erased(self, delete: Callable[[Connection], Deleted]) -> int:
        with self._database.writing() as connection:
            deleted = delete(connection)
        self._shelves.drop(deleted.owners, deleted.version)
        # Also where nothing was there: an earlier call may have been stopped before this.
        erasing.finish_deletion(self._database)
        return deleted.records

    def _records(
        self, connection: Connection, row: OwnerRow, shelf: Shelf, places: Sequence[tuple[int, int]]
    ) -> list[Record]:
        """The records at these places; those that were asked for lately are with the shelf."""
        held = ((place, shelf.records.get(place)) for place in places)
        known = {place: record for place, record in held if record is not None}
        missing = [place for place in places if place not in known]
        if missing:
            lines = texts(connection, row.id, {block for block, _ in missing})
            fresh = {(b, i): parse_line(lines[b][i]).record for b, i in missing}
            shelf.records.add(fresh)
            self._shelves.recount(row.id, shelf)
            known |= fresh
        return [known[place] for place in places]

    def _matching(
        self,
        owner: Owner,
        blocks: Callable[[Connection, OwnerRow], set[int]],
        wanted: Callable[[Record], bool],
    ) -> History:
        with self._database.reading() as connection:
            if (row := find_owner(connection, owner)) is None:
                return ()
            placed = list(records_in(connection, row.id, blocks(connection, row)))
        return tuple(one.record for one in placed if wanted(one.record))


def _pool(records: Sequence[Record], hits: Sequence[Hit]) -> Pool:
    return tuple([Candidate(record, hit.score) for record, hit in zip(records, hits, strict=True)])


def _require_positive(limit: int) -> None:
    if limit < 1:
        raise DataError("must be at least 1", field="limit")
