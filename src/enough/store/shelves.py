"""Vectors of owners that were asked for lately, kept in memory and never out of date.

In: an owner's row. Out: its `Shelf`: every block's vectors. A shelf is good while the row's version
is the one it was read at, so writes of other processes are seen; after a write only the blocks that
changed are read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Select, select

from enough.protocols import Floats
from enough.records import Record
from enough.store.block_rows import in_batches
from enough.store.blocks import vectors_of
from enough.store.database import binary
from enough.store.owners import OwnerRow
from enough.store.tables import vector_block

_REMEMBERED_DELETIONS = 4096
_AT_HAND = 1024  # records of an owner beside its vectors, at most
_OF_A_RECORD = 600  # bytes beside its texts, about


@dataclass(frozen=True, slots=True, eq=False)
class ShelfBlock:
    """One block's vectors [n, dim], and the length of the longest."""

    block: int
    version: int
    vectors: Floats
    longest: float


class RecordsAtHand:
    """Records that were asked for lately, by block and line; begun anew when they are many."""

    def __init__(self) -> None:
        self._records: dict[tuple[int, int], Record] = {}
        self.size = 0  # bytes, about

    def all_at(self, places: Iterable[tuple[int, int]]) -> list[Record] | None:
        """The records in these places, if all of them are at hand."""
        known = self._records
        try:
            return [known[place] for place in places]
        except KeyError:
            return None

    def get(self, place: tuple[int, int]) -> Record | None:
        """The record, if it is at hand."""
        return self._records.get(place)

    def add(self, fresh: Mapping[tuple[int, int], Record]) -> None:
        """Keep these, too."""
        if len(self._records) + len(fresh) > _AT_HAND:
            self._records, self.size = {}, 0
        self._records.update(fresh)
        self.size += sum(_OF_A_RECORD + record.letters for record in fresh.values())


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """All vectors of an owner at one version, in the order of appending.

    Attributes:
        version: the owner's.
        encoder_key: whose vectors.
        blocks: in order.
        records: some that were asked for, by block and line; they go with the shelf.
    """

    version: int
    encoder_key: bytes
    blocks: tuple[ShelfBlock, ...]
    records: RecordsAtHand = field(default_factory=RecordsAtHand)

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(block.vectors.nbytes for block in self.blocks) + self.records.size


class Shelves:
    """At most `capacity` bytes of them; the one used longest ago goes first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._used = 0
        self._held: OrderedDict[int, Shelf] = OrderedDict()
        self._counted: dict[int, int] = {}  # bytes of each when it was looked at last
        # Reads that began before a deletion must not bring it back into memory.
        self._deleted: OrderedDict[int, int] = OrderedDict()
        self._lock = threading.Lock()

    def held(self, row: OwnerRow) -> Shelf | None:
        """The owner's shelf at this version, if it is in memory."""
        with self._lock:
            found = self._held.get(row.id)
            if found is None:
                return None
            self._held.move_to_end(row.id)
        is_current = (found.version, found.encoder_key) == (row.version, row.encoder_key)
        return found if is_current else None

    def of(self, connection: Connection, row: OwnerRow) -> Shelf:
        """The owner's shelf as of this transaction."""
        if (held := self.held(row)) is not None:
            return held
        with self._lock:
            older = self._held.get(row.id)
        known = () if older is None or older.encoder_key != row.encoder_key else older.blocks
        shelf = _read(connection, row, known)
        self._keep(row.id, shelf)
        return shelf

    def drop(self, owner_ids: Iterable[int], version: int | None = None) -> None:
        """Forget owners something was deleted of; and whatever is still being read of them.

        Args:
            owner_ids: whose.
            version: the first that is without the deleted; None if everything was.
        """
        with self._lock:
            for owner_id in owner_ids:
                self._remove(owner_id)
                self._deleted[owner_id] = (1 << 62) if version is None else version
                self._deleted.move_to_end(owner_id)
            while len(self._deleted) > _REMEMBERED_DELETIONS:
                self._deleted.popitem(last=False)

    def recount(self, owner_id: int, shelf: Shelf) -> None:
        """After records were put with a shelf: it may be time for another one to go."""
        with self._lock:
            if self._held.get(owner_id) is shelf:
                self._count(owner_id, shelf)

    def versions(self) -> dict[int, int]:
        """Owner ids and the versions that are held."""
        with self._lock:
            return {owner_id: shelf.version for owner_id, shelf in self._held.items()}

    def _keep(self, owner_id: int, shelf: Shelf) -> None:
        with self._lock:
            self._remove(owner_id)
            if shelf.size > self._capacity or shelf.version < self._deleted.get(owner_id, 0):
                return
            self._held[owner_id] = shelf
            self._count(owner_id, shelf)

    def _count(self, owner_id: int, shelf: Shelf) -> None:
        size = shelf.size
        self._used += size - self._counted.get(owner_id, 0)
        self._counted[owner_id] = size
        while self._used > self._capacity:
            self._remove(next(iter(self._held)))

    def _remove(self, owner_id: int) -> None:
        if self._held.pop(owner_id, None) is not None:
            self._used -= self._counted.pop(owner_id)


def _read(connection: Connection, row: OwnerRow, known: tuple[ShelfBlock, ...]) -> Shelf:
    c = vector_block.c
    mine = (c.owner_id == row.id) & (c.encoder_key == row.encoder_key)
    statement = (
        select(c.block, c.version, c.count, c.dim, c.longest, c.data).where(mine).order_by(c.block)
    )
    found: dict[int, ShelfBlock] = {}
    if known:
        rows = connection.execute(select(c.block, c.version).where(mine))
        current = {block: version for block, version in rows}  # noqa: C416 (rows are no pairs)
        found = {one.block: one for one in known if current.get(one.block) == one.version}
        for numbers in in_batches(current.keys() - found.keys()):
            _take(connection, statement.where(c.block.in_(numbers)), found)
    else:
        _take(connection, statement, found)
    return Shelf(row.version, row.encoder_key, tuple(found[block] for block in sorted(found)))


def _take(connection: Connection, statement: Select[Any], into: dict[int, ShelfBlock]) -> None:
    for block, version, count, dim, longest, data in binary(connection).execute(statement):
        into[block] = ShelfBlock(block, version, vectors_of(data, count, dim), longest)
