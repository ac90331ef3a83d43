"""Many clients of a service in one thread, each with a connection of its own.

In: messages of HTTP, ready to be sent, and how many clients. Out: for each answer how long it took
and its head. A thread for every client, or a library's client, would take the cores that are to be
measured: here one wait serves all connections that have something to read.
"""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from enough.errors import EnoughError

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_TOGETHER = 65_536  # bytes read at a time
_PATIENCE_S = 120.0  # until one of all clients hears something


@dataclass(slots=True)
class _Client:
    """One connection and the answer it waits for."""

    connection: socket.socket
    began: float = 0.0
    read: bytes = b""
    expected: int = 0  # bytes of the whole answer; 0 until its head is there

    def send(self, message: bytes) -> None:
        self.read, self.expected = b"", 0
        self.began = time.perf_counter()
        self.connection.sendall(message)

    def has_answer(self) -> bool:
        """Read what is there; whether the answer is whole.

        Raises:
            ConnectionError: if the service has hung up.
        """
        more = self.connection.recv(_TOGETHER)
        if not more:
            raise ConnectionError("the service hung up")
        self.read += more
        if not self.expected and (end := self.read.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self.read, 0, end)
            self.expected = end + 4 + (int(length[1]) if length else 0)
        return 0 < self.expected <= len(self.read)


def drive(port: int, messages: Sequence[bytes], clients: int) -> list[tuple[float, bytes]]:
    """Seconds and head of every answer; whoever is free sends the next message.

    A connection that breaks takes its message with it and is not replaced.
    """
    waiting = iter(messages)
    came: list[tuple[float, bytes]] = []
    with ExitStack() as opened:
        ready = opened.enter_context(selectors.DefaultSelector())
        for _ in range(min(clients, len(messages))):
            connection = opened.enter_context(_connected(port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = _Client(connection)
            ready.register(connection, selectors.EVENT_READ, client)
            client.send(next(waiting))
        while ready.get_map() and (found := ready.select(_PATIENCE_S)):
            for key, _ in found:
                _go_on(key.data, waiting, came, ready)
    return came


def _connected(port: int) -> socket.socket:
    try:
        return socket.create_connection(("127.0.0.1", port), _PATIENCE_S)
    except OSError as error:
        raise EnoughError(f"the service does not answer: {error.strerror or error}") from None


def _go_on(
    client: _Client,
    waiting: Iterator[bytes],
    came: list[tuple[float, bytes]],
    ready: selectors.BaseSelector,
) -> None:
    """Take what has come; once that is an answer, send the next message."""
    try:
        if not client.has_answer():
            return
        came.append((time.perf_counter() - client.began, client.read.partition(b"\r\n\r\n")[0]))
        if (message := next(waiting, None)) is not None:
            client.send(message)
            return
    except OSError:
        pass  # its message counts as unanswered
    ready.unregister(client.connection)
