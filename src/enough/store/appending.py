"""New records into blocks: the last block is filled up, then others begin.

In: an owner, records, their vectors. Out: rows written in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, insert, select, update

from enough.errors import DataError, ModelError, RecordConflictError
from enough.protocols import Floats
from enough.records import Record
from enough.store.block_rows import blocks_with, id_key, records_in, source_key
from enough.store.blocks import (
    Placed,
    grouped,
    line_of,
    lines_of,
    text_data,
    vector_values,
    vectors_of,
)
from enough.store.owners import OwnerRow, change_owner, found_or_made, require_encoder
from enough.store.tables import place, text_block, vector_block
from enough.store.values import Owner


def distinct(owner: Owner, records: Sequence[Record]) -> dict[str, Record]:
    """The records by id, each once; all of them must be the owner's."""
    found: dict[str, Record] = {}
    for record in records:
        if record.owner != owner.user:
            raise DataError(
                f"record {record.id!r} belongs to user {record.owner!r}, not {owner.user!r}; "
                "append it under its own user"
            )
        if found.setdefault(record.id, record) != record:
            raise RecordConflictError(
                f"two different records with the id {record.id!r} came together; ids are unique"
            )
    return found


def not_stored(
    connection: Connection, row: OwnerRow | None, records: Mapping[str, Record]
) -> list[Record]:
    """Those that are not there yet, in their order; one that is there must be the same."""
    known: set[str] = set()
    if row is not None:
        for placed in records_in(connection, row.id, blocks_with(connection, row.id, records)):
            identity = placed.record.id
            if identity in records:
                known.add(identity)
                if placed.record != records[identity]:
                    raise RecordConflictError(
                        f"record {identity!r} of user {placed.record.owner!r} is stored with other "
                        "content; delete it first, or use a new id"
                    )
    return [record for record in records.values() if record.id not in known]


def add(
    connection: Connection,
    owner: Owner,
    records: Sequence[Record],
    vectors: Floats,
    fingerprint: str,
) -> int:
    """Write what is not there yet; how many these were."""
    row = found_or_made(connection, owner, fingerprint)
    require_encoder(owner, row, fingerprint)
    fresh = not_stored(connection, row, {record.id: record for record in records})
    if not fresh:
        return 0  # the owner is not new, then, and nothing changes
    places = {record.id: i for i, record in enumerate(records)}
    new_vectors = vectors[[places[record.id] for record in fresh]]
    placed = [Placed(row.next_sequence + i, record) for i, record in enumerate(fresh)]
    _write(connection, row, placed, new_vectors)
    change_owner(
        connection,
        row,
        next_sequence=row.next_sequence + len(fresh),
        records=row.records + len(fresh),
    )
    return len(fresh)


def _write(
    connection: Connection, row: OwnerRow, placed: Sequence[Placed], vectors: Floats
) -> None:
    tail = _tail(connection, row)
    begun = tail.lines if tail is not None else []
    done, places = 0, []
    for position, lines in enumerate(grouped(begun, map(line_of, placed))):
        goes_on = tail is not None and position == 0
        new = placed[done : done + len(lines) - (len(begun) if goes_on else 0)]
        if not new:
            continue  # the last block was full
        own, block = vectors[done : done + len(new)], new[0].sequence
        if tail is not None and goes_on:
            own, block = _joined(tail.vectors, own), tail.block
        put_block(connection, row, block, lines, own, exists=goes_on)
        places += [_place(row, one.record, block) for one in new]
        done += len(new)
    connection.execute(insert(place), places)


def _place(row: OwnerRow, record: Record, block: int) -> dict[str, object]:
    return {
        "owner_id": row.id,
        "id_key": id_key(record.id),
        "source_key": source_key(record.source_id),
        "block": block,
    }


def _joined(known: Floats, new: Floats) -> Floats:
    if known.shape[1] != new.shape[1]:
        raise ModelError(
            f"vectors of {new.shape[1]} numbers; those of the same encoder had {known.shape[1]}"
        )
    return np.concatenate([known, new])


def put_block(
    connection: Connection,
    row: OwnerRow,
    block: int,
    lines: Sequence[bytes],
    vectors: Floats,
    *,
    exists: bool,
) -> None:
    """Write a block's texts and vectors, new or in place of what is there."""
    key = {"owner_id": row.id, "block": block}
    text_values = {"version": row.version + 1, "data": text_data(lines)}
    values = {"version": row.version + 1, **vector_values(vectors)}
    if not exists:
        connection.execute(insert(text_block).values(**key, **text_values))
        connection.execute(
            insert(vector_block).values(**key, encoder_key=row.encoder_key, **values)
        )
        return
    connection.execute(update(text_block).filter_by(**key).values(**text_values))
    connection.execute(
        update(vector_block).filter_by(**key, encoder_key=row.encoder_key).values(**values)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Tail:
    """An owner's last block: its lines and vectors [n, dim]."""

    block: int
    lines: list[bytes]
    vectors: Floats


def _tail(connection: Connection, row: OwnerRow) -> _Tail | None:
    last = connection.execute(
        select(text_block.c.block, text_block.c.data)
        .where(text_block.c.owner_id == row.id)
        .order_by(text_block.c.block.desc())
        .limit(1)
    ).one_or_none()
    if last is None:
        return None
    return _Tail(last.block, lines_of(last.data), block_vectors(connection, row, last.block))


def block_vectors(connection: Connection, row: OwnerRow, block: int) -> Floats:
    """The vectors [n, dim] of one block."""
    c = vector_block.c
    count, dim, data = connection.execute(
        select(c.count, c.dim, c.data).where(
            c.owner_id == row.id, c.encoder_key == row.encoder_key, c.block == block
        )
    ).one()
    return vectors_of(data, count, dim)
