"""Answers that leave in one piece.

In: a connection. Out: the web server's own protocol, whose writes of one turn of the event loop go
to the socket together. It writes head and body of an answer one after the other, and each is a call
of the system that wakes the client; with both cores at work that costs more than making the answer.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MUCH = 65_536  # bytes that do not wait for more


class OneWrite(HttpToolsProtocol):
    """HTTP on a connection, a write for every turn of the loop."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection."""
        super().connection_made(cast("asyncio.Transport", _Joined(transport, self.loop)))


class _Joined:
    """A transport that waits with writing until the turn is over; all else is the inner one's."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if len(data) >= _MUCH:  # the server must learn when the client is too slow for it
            self._flush()
            self._transport.write(data)
            return
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():  # the client may be gone by now
            self._transport.write(b"".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
