"""One row per record with its vector beside it: what the store's layout is compared with.

In: records and vectors. Out: the nearest ones. For `storing` alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from enough.protocols import Floats
from enough.records import Record
from enough.store.blocks import Placed, line_of, parse_line


class PlainTable:
    """A table in an SQLite file of its own."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(
            "CREATE TABLE record (user INT, number INT, line BLOB, vector BLOB, "
            "PRIMARY KEY (user, number))"
        )

    def add(self, user: int, placed: Sequence[Placed], vectors: Floats) -> None:
        """Append records with their vectors [n, dim]."""
        rows = [
            (user, one.sequence, line_of(one), vector.tobytes())
            for one, vector in zip(placed, vectors, strict=True)
        ]
        with self._connection:
            self._connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)

    def nearest(self, user: int, query: Floats, limit: int) -> list[Record]:
        """The records nearest to a query [dim], best first; records are numbered from 0 on."""
        rows = self._connection.execute(
            "SELECT vector FROM record WHERE user = ? ORDER BY number", (user,)
        ).fetchall()
        joined = b"".join(row[0] for row in rows)
        vectors = np.frombuffer(joined, np.float32).reshape(-1, len(query))
        order = np.argsort(-(vectors @ query), kind="stable")[:limit].tolist()
        marks = ",".join("?" * len(order))
        found = self._connection.execute(
            f"SELECT number, line FROM record WHERE user = ? AND number IN ({marks})",
            (user, *order),
        )
        lines = dict(found.fetchall())
        return [parse_line(lines[number]).record for number in order]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
