"""Heads that are short and come soon, answers that leave in one piece.

In: a connection. Out: the web server's own protocol with two changes. It takes heads of any length
and waits for their end as long as it takes; here both end, since nobody has shown a key yet. And it
writes head and body of an answer one after the other, each a call of the system that wakes the
client, which with both cores at work costs more than making the answer; here the writes of one turn
of the event loop go to the socket together.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from enough.service.problems import ProblemError
from enough.service.replies import refusal

_MUCH = 65_536  # bytes that do not wait for more
_LONGEST_HEAD = 65_536  # bytes, beside what came together with its first ones
_HEAD_S = 30.0
_TOO_LARGE = (431, "too_large", "the head of the request is too large")
_TOO_SLOW = (408, "timeout", "the head of the request took too long to arrive; send it again")


class OneWrite(HttpToolsProtocol):
    """HTTP on a connection, a write for every turn of the loop."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection."""
        super().connection_made(cast("asyncio.Transport", Joined(transport, self.loop)))
        self._is_in_head, self._head_bytes, self._came = True, 0, 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came; of a head, not more than it may have."""
        self._came = len(data)
        super().data_received(data)
        if not self._is_in_head:  # as a rule
            return
        self._head_bytes += self._came
        if self._head_bytes > _LONGEST_HEAD:
            self._refuse(*_TOO_LARGE)
        elif self._head_timer is None:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        """A head begins, perhaps behind a body that came with it."""
        self._is_in_head, self._head_bytes = True, -self._came
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """It is whole."""
        self._is_in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(_HEAD_S, self._refuse, *_TOO_SLOW)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, status: int, kind: str, message: str) -> None:
        self._stop_waiting()
        if self.transport.is_closing():
            return
        body = refusal(ProblemError(status, kind, message)).body
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + bytes(body))
        self.transport.close()


class Joined:
    """A transport that waits with writing until the turn is over; all else is the inner one's."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Leaves when the turn is over."""
        if len(data) >= _MUCH:  # the server must learn when the client is too slow for it
            self._flush()
            self._transport.write(data)
            return
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Close behind what is waiting."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():  # the client may be gone by now
            self._transport.write(b"".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
