"""How answers leave, and lines of the log."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from enough.service.access_log import AccessLog
from enough.service.one_write import _Joined


class Wire:
    """A transport that keeps what is written, and how it ended."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.written.append(b"closed")

    def is_closing(self) -> bool:
        return b"closed" in self.written


def test_writes_of_one_turn_leave_together_and_in_order() -> None:
    async def run() -> list[bytes]:
        inner: Any = Wire()
        wire = _Joined(inner, asyncio.get_running_loop())
        wire.write(b"head ")
        wire.write(b"body")
        assert inner.written == []
        await asyncio.sleep(0)
        wire.write(b"next")
        wire.write(b"x" * 70_000)  # does not wait, nor does what stands before it
        assert len(inner.written) == 3
        wire.write(b"last")
        wire.close()
        assert wire.is_closing()
        await asyncio.sleep(0)
        return list(inner.written)

    assert asyncio.run(run()) == [b"head body", b"next", b"x" * 70_000, b"last", b"closed"]


def test_nothing_is_written_to_a_client_that_is_gone() -> None:
    async def run() -> list[bytes]:
        inner: Any = Wire()
        wire = _Joined(inner, asyncio.get_running_loop())
        wire.write(b"answer")
        inner.close()
        await asyncio.sleep(0)
        return list(inner.written)

    assert asyncio.run(run()) == [b"closed"]


def test_lines_come_together_and_none_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    log = AccessLog()

    async def run() -> None:
        log.add(logging.INFO, "GET /one 200")
        log.add(logging.DEBUG, "GET /healthz 200")  # nobody wants to read it
        log.add(logging.INFO, "GET /two 200")
        assert not caplog.records
        await asyncio.sleep(0.3)
        log.add(logging.INFO, "GET /three 200")

    with caplog.at_level("INFO", logger="enough.service"):
        asyncio.run(run())
        log.write()  # as a service that stops does
        log.write()
    assert caplog.messages == ["GET /one 200\nGET /two 200", "GET /three 200"]
