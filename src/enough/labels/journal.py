"""Finished scoring calls of one chunk of requests, on disk before the next one begins.

In: the content of a call and its scores. Out: after a kill, the scores of every call that had
finished. An append-only file: each entry has a digest of what was scored, the values and a
checksum; a torn last entry is cut off. One process at a time holds it.

A call is stored whole or not at all, because likelihoods depend in their last bits on what is
computed together: scoring half a call again would not give the same bytes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from enough.protocols import ScoredSequence

_HEADER = struct.Struct("<4s16sII")  # magic, digest, number of values, checksum
_MAGIC = b"ENJ1"
Values = NDArray[np.float64]


class FinishedCalls(Protocol):
    """Where the scores of finished calls are kept."""

    def get(self, key: bytes) -> Values | None:
        """Scores of a finished call."""
        ...

    def put(self, key: bytes, scores: Values) -> None:
        """Store a finished call."""
        ...


class Journal:
    """The finished calls of one chunk. Open it, or use it as a context manager.

    Attributes:
        known: scores by call.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.known: dict[bytes, Values] = {}
        self._file: BinaryIO | None = None

    def __enter__(self) -> Journal:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> Journal:
        """Take in what is there; waits for whoever holds it."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a+b")
        fcntl.flock(self._file, fcntl.LOCK_EX)  # a process that was killed lets go of it
        self._file.seek(0)
        whole = self._read(self._file.read())
        self._file.truncate(whole)
        self._file.seek(whole)
        return self

    def close(self) -> None:
        """Let go of it."""
        if self._file is not None:
            self._file.close()

    def get(self, key: bytes) -> Values | None:
        """Scores of a finished call."""
        return self.known.get(key)

    def put(self, key: bytes, scores: Values) -> None:
        """Store a finished call; on the disk when this returns."""
        assert self._file is not None, "opened first"
        body = scores.astype("<f8").tobytes()
        checksum = zlib.crc32(body, zlib.crc32(key))
        self._file.write(_HEADER.pack(_MAGIC, key, len(scores), checksum) + body)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.known[key] = scores

    def delete(self) -> None:
        """Forget it: what it held is now in the finished part."""
        self._path.unlink(missing_ok=True)

    def _read(self, raw: bytes) -> int:
        """Take in all whole entries; returns where they end."""
        position = 0
        while position + _HEADER.size <= len(raw):
            magic, key, count, checksum = _HEADER.unpack_from(raw, position)
            end = position + _HEADER.size + 8 * count
            body = raw[position + _HEADER.size : end]
            if magic != _MAGIC or end > len(raw) or zlib.crc32(body, zlib.crc32(key)) != checksum:
                break
            self.known[key] = np.frombuffer(body, "<f8").astype(np.float64)
            position = end
        return position


def call_key(fingerprint: str, sequences: Sequence[ScoredSequence]) -> bytes:
    """What is scored and by which generator, in 16 bytes."""
    digest = hashlib.blake2b(fingerprint.encode(), digest_size=16)
    for sequence in sequences:
        digest.update(struct.pack("<II", len(sequence.tokens), sequence.reference_length))
        digest.update(np.ascontiguousarray(sequence.tokens, "<i4").tobytes())
    return digest.digest()
