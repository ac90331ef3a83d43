"""Clients against a server of a few lines: answers in pieces, broken connections, nothing lost."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from enough.bench.clients import drive
from enough.errors import EnoughError

Answer = Callable[[socket.socket, bytes], None]


@contextmanager
def server(answer: Answer) -> Iterator[int]:
    """Calls `answer` with every message of every connection; messages are lines."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve(connection: socket.socket) -> None:
            with connection, connection.makefile("rb") as lines:
                for line in lines:
                    answer(connection, line.strip())

        def accept() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]


def body_of(message: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(message), message)


@pytest.mark.parametrize("clients", [1, 3, 16])
def test_every_message_gets_its_answer(clients: int) -> None:
    asked: list[bytes] = []

    def answer(connection: socket.socket, message: bytes) -> None:
        asked.append(message)
        connection.sendall(body_of(message))

    with server(answer) as port:
        came = drive(port, [b"message %d\n" % i for i in range(20)], clients)
    assert len(came) == 20
    assert sorted(asked) == sorted(b"message %d" % i for i in range(20))
    assert all(head.startswith(b"HTTP/1.1 200 OK\r\n") for _, head in came)
    assert all(0 < seconds < 10 for seconds, _ in came)


def test_answers_that_come_in_pieces_are_waited_for() -> None:
    def answer(connection: socket.socket, message: bytes) -> None:
        whole = body_of(message * 50)
        for place in range(0, len(whole), 7):
            connection.sendall(whole[place : place + 7])
            if place < 70:
                time.sleep(0.002)

    with server(answer) as port:
        came = drive(port, [b"abc\n"] * 6, 2)
    assert [head for _, head in came] == [b"HTTP/1.1 200 OK\r\nContent-Length: 150"] * 6
    assert min(seconds for seconds, _ in came) > 0.015


def test_an_answer_without_a_body_is_whole_with_its_head() -> None:
    with server(lambda connection, _: connection.sendall(b"HTTP/1.1 204 None\r\n\r\n")) as port:
        assert len(drive(port, [b"a\n"] * 3, 1)) == 3


def test_a_broken_connection_leaves_its_message_unanswered() -> None:
    def answer(connection: socket.socket, message: bytes) -> None:
        if message == b"bad":
            connection.shutdown(socket.SHUT_RDWR)
        else:
            connection.sendall(body_of(message))

    with server(answer) as port:
        came = drive(port, [b"bad\n", *[b"good\n"] * 9], 2)
        assert len(came) == 9
        assert drive(port, [b"bad\n"] * 3, 2) == []
    assert drive(port, [], 4) == []


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(EnoughError, match="does not answer"):
        drive(port, [b"a\n"], 1)
