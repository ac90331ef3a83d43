"""Records and vectors as bytes: up to 64 of an owner together, laid out so that they can be erased.

In: records with their sequence numbers, vectors [n, dim]. Out: bytes for one row, and back, equal
to the last bit. Two things speak for blocks. Reading ten thousand vectors row by row takes twice as
long as one may. And SQLite leaves copies behind when it moves small rows from page to page, which
`secure_delete` does not find; what lies on overflow pages is never moved and is overwritten with
zeros when it is freed. So a block begins with zeros for the part that SQLite keeps in the tree, and
its length is such that this part is the least possible.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from enough.protocols import Floats
from enough.records import Record

BLOCK_RECORDS = 64
BLOCK_TEXT = 128 * 1024  # bytes after which a block takes no further record

# SQLite file format, pages of 4096 bytes: an overflow page holds 4092; of a row of P bytes 489 stay
# in the tree if (P − 489) mod 4092 is more than any page takes. Keys and lengths before the blob
# are less than 80 bytes, so with 400 left over that is so, and the 489 end within the first 512.
PAGE = 4096
_HEAD, _OVERFLOW, _LEFT_OVER = 512, PAGE - 4, 400
_STORED = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class Placed:
    """A record and its sequence number with its owner."""

    sequence: int
    record: Record


def to_data(content: bytes) -> bytes:
    """A block's bytes as they are stored."""
    fill = (_LEFT_OVER - _HEAD - len(content)) % _OVERFLOW
    return bytes(_HEAD) + content + bytes(fill)


def text_data(lines: Iterable[bytes]) -> bytes:
    """Lines of records as a block."""
    return to_data(b"\n".join(lines))


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a block; reading one does not need the others to be parsed."""
    return data.strip(b"\0").split(b"\n")


def grouped(begun: Sequence[bytes], further: Iterable[bytes]) -> list[list[bytes]]:
    """Lines dealt to blocks; the first goes on with those of a block that is there already."""
    groups, size = [list(begun)], sum(map(len, begun))
    for line in further:
        if len(groups[-1]) >= BLOCK_RECORDS or size >= BLOCK_TEXT:
            groups.append([])
            size = 0
        groups[-1].append(line)
        size += len(line)
    return groups


def parse_line(line: bytes) -> Placed:
    """The record of one line."""
    sequence, *texts, date, moment, metadata, source = json.loads(
        line.decode("utf-8", "surrogatepass")
    )
    identity, owner, context, action = texts
    return Placed(
        sequence,
        Record(
            id=identity,
            owner=owner,
            context=context,
            action=action,
            date=date,
            moment=None if moment is None else tuple(moment),
            metadata=tuple((name, value) for name, value in metadata),
            source_id=source,
        ),
    )


def line_of(placed: Placed) -> bytes:
    """One line of JSON without a line break in it."""
    r = placed.record
    values = [placed.sequence, r.id, r.owner, r.context, r.action]
    values += [r.date, r.moment, r.metadata, r.source_id]
    # Not as ASCII: two escaped halves of a surrogate pair would come back as one character.
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def vector_values(vectors: Floats) -> dict[str, object]:
    """Vectors [n, dim] as the columns of a block; the search needs to know the longest one."""
    return {
        "count": len(vectors),
        "dim": vectors.shape[1],
        "longest": float(np.linalg.norm(vectors.astype(np.float64), axis=1).max()),
        "data": to_data(vectors.astype(_STORED).tobytes()),
    }


def vectors_of(data: bytes, count: int, dim: int) -> Floats:
    """The vectors [count, dim] of a block, read-only."""
    found = np.frombuffer(data, _STORED, count * dim, _HEAD).reshape(count, dim)
    return found.astype(np.float32, copy=False)
