"""How heads come and answers leave, and lines of the log."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from enough.errors import ConfigError
from enough.service.access_log import AccessLog
from enough.service.one_write import Joined
from enough.store.config import StoreConfig
from tests.service.running import Running, running, settings


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
        wire = Joined(inner, asyncio.get_running_loop())
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
        wire = Joined(inner, asyncio.get_running_loop())
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


def heads(shop: Running, *parts: bytes, pause_s: float = 0.0) -> bytes:
    """Send pieces on a plain connection; all that comes back."""
    with socket.create_connection(shop.address, timeout=20) as wire:
        with suppress(ConnectionError):
            for part in parts:
                wire.sendall(part)
                time.sleep(pause_s)
        answer = b""
        with suppress(ConnectionError):
            while more := wire.recv(65_536):
                answer += more
        return answer


def test_a_head_without_end_is_cut_off(tmp_path: Path) -> None:
    with running(settings(tmp_path, open=True)) as shop:
        begun = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        answer = heads(shop, begun, *[b"X-n: " + b"a" * 20_000 + b"\r\n"] * 20, pause_s=0.005)
        assert answer.startswith(b"HTTP/1.1 431 ") or answer == b""  # reset before it was read
        one_line = heads(shop, begun + b"X: ", *[b"a" * 20_000] * 20, pause_s=0.005)
        assert one_line.startswith(b"HTTP/1.1 431 ") or one_line == b""
        with shop.with_key(None) as client:
            long = client.get("/healthz", headers={"X-n": "a" * 30_000})
            assert long.status_code == 200
            large = {"task": "LaMP-7", "records": [{"id": "1", "text": "late " * 30_000}]}
            assert client.post("/v1/users/ann/records", json=large).is_success


def test_a_head_that_comes_too_slowly_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("enough.service.one_write._HEAD_S", 0.2)
    with running(settings(tmp_path, open=True)) as shop:
        answer = heads(shop, b"GET /healthz HTTP/1.1\r\nHost:")
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"type":"timeout"' in answer
        assert heads(shop).startswith(b"HTTP/1.1 408 ")  # nothing at all
        whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with closing(socket.create_connection(shop.address, timeout=20)) as wire:
            wire.sendall(whole)
            assert wire.recv(65_536).startswith(b"HTTP/1.1 200 ")
            time.sleep(0.4)  # between two requests a connection may rest
            wire.sendall(whole)
            assert wire.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_nobody_is_sent_where_the_host_header_says(tmp_path: Path) -> None:
    with running(settings(tmp_path)) as shop, shop.client() as client:
        answer = client.post("/v1/select/", json={}, headers={"Host": "evil.example"})
        assert (answer.status_code, "location" in answer.headers) == (404, False)


def test_names_in_paths_are_as_long_as_names_in_bodies(tmp_path: Path) -> None:
    with running(settings(tmp_path)) as shop, shop.client() as client:
        body = {"task": "LaMP-7", "records": [{"id": "1", "text": "late"}]}
        assert client.post(f"/v1/users/{'a' * 1000}/records", json=body).is_success
        refused = client.post(f"/v1/users/{'a' * 1001}/records", json=body)
        assert refused.status_code == 422
        assert "at most 1000 characters, not 1001" in refused.text


@pytest.mark.parametrize("database", ["", ":memory:"])
def test_a_store_needs_a_file(database: str) -> None:
    with pytest.raises(ConfigError, match=r"store\.database must name a file"):
        StoreConfig(database)
