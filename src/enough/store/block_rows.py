"""Blocks in the database: reading some of an owner's, finding which a record is in.

In: a connection, an owner's id. Out: blocks' bytes, places, records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

from sqlalchemy import Connection, bindparam, select

from enough.store.blocks import Placed, lines_of, parse_line
from enough.store.tables import digest, place, text_block

Key = TypeVar("Key", int, bytes)
_TEXTS = (
    select(text_block.c.block, text_block.c.data)
    .where(
        text_block.c.owner_id == bindparam("owner_id"),
        text_block.c.block.in_(bindparam("blocks", expanding=True)),
    )
    .order_by(text_block.c.block)
)
_TOGETHER = 500  # below SQLite's limit on bound variables in every build


def id_key(identity: str) -> bytes:
    """Under which a record is found by its id."""
    return digest("record", identity)


def source_key(item: str | None) -> bytes | None:
    """Under which a record is found by the item it is about."""
    return None if item is None else digest("source", item)


def in_batches(values: Iterable[Key]) -> Iterator[list[Key]]:
    """Sorted, and few enough for one statement."""
    ordered = sorted(values)
    for start in range(0, len(ordered), _TOGETHER):
        yield ordered[start : start + _TOGETHER]


def blocks_with(connection: Connection, owner_id: int, ids: Collection[str]) -> set[int]:
    """The blocks that hold records with these ids."""
    found: set[int] = set()
    for keys in in_batches({id_key(identity) for identity in ids}):
        statement = select(place.c.block).where(
            place.c.owner_id == owner_id, place.c.id_key.in_(keys)
        )
        found.update(connection.execute(statement).scalars())
    return found


def texts(connection: Connection, owner_id: int, blocks: Collection[int]) -> dict[int, list[bytes]]:
    """The lines of these blocks, in ascending order of the blocks."""
    found: dict[int, list[bytes]] = {}
    for numbers in in_batches(set(blocks)):
        values = {"owner_id": owner_id, "blocks": numbers}
        for number, data in connection.execute(_TEXTS, values):
            found[number] = lines_of(data)
    return found


def records_in(connection: Connection, owner_id: int, blocks: Collection[int]) -> Iterator[Placed]:
    """All records of these blocks, in the order of appending."""
    for lines in texts(connection, owner_id, blocks).values():
        yield from map(parse_line, lines)
