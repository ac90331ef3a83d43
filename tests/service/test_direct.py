"""Requests that came whole get the bytes that requests in pieces get, which go the long way."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from enough.service.config import LimitsConfig
from enough.service.direct import Direct
from tests.service.running import TASK, CoreEncoder, Running, models, running, settings, tweets

GOOD = b'{"task": "LaMP-7", "user": "ann", "input": "Paraphrase this: my bus is late"}'
_CHANGES = re.compile(rb"(date|server-timing): [^\r]*")


@pytest.fixture(scope="module")
def open_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    limits = LimitsConfig(requests_per_minute=0, body_bytes=50_000)
    config = settings(tmp_path_factory.mktemp("direct"), open=True, limits=limits)
    with running(config) as shop, shop.with_key(None) as client:
        records = {"task": TASK, "records": tweets(5)}
        assert client.post("/v1/users/ann/records", json=records).is_success
        yield shop


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Targets of requests that were answered directly."""
    taken: list[bytes] = []
    inner = Direct._answer

    async def answer(self: Direct, *given: Any) -> None:
        taken.append(self.url)
        await inner(self, *given)

    monkeypatch.setattr(Direct, "_answer", answer)
    return taken


def asked(body: bytes = GOOD, first: bytes = b"POST /v1/select HTTP/1.1", **headers: str) -> bytes:
    given = {"Host": "localhost", "Content-Type": "application/json", "Connection": "keep-alive"}
    given |= {"Content-Length": str(len(body))}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}".encode() for name, value in given.items() if value]
    return b"\r\n".join([first, *lines, b"", body])


def talk(shop: Running, *parts: bytes) -> bytes:
    """Send pieces on a connection of their own; what comes back until nothing more does."""
    with closing(socket.create_connection(shop.address, timeout=20)) as wire:
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):  # who is refused may be cut off
            for part in parts:
                wire.sendall(part)
                time.sleep(0.05)
        answer, is_open = b"", False
        wire.settimeout(0.5)
        try:
            while more := wire.recv(65_536):
                answer += more
        except ConnectionError:
            pass
        except TimeoutError:
            is_open = True
        answer += b"(open)" if is_open else b"(closed)"
        return _CHANGES.sub(rb"\1", answer)


CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(GOOD), GOOD)
REQUESTS = {  # and whether they are answered directly
    "plain": (asked(), True),
    "without a header for the connection": (asked(Connection=""), True),
    "chunks": (asked(CHUNKED, Content_Length="", Transfer_Encoding="chunked"), True),
    "not JSON": (asked(b"{"), True),
    "no body": (asked(b""), True),
    "wrong field": (asked(b'{"task": "LaMP-7", "input": 3}'), True),
    "unknown task": (asked(GOOD.replace(b"LaMP-7", b"nobody")), True),
    "too large": (asked(b'"' + b"a" * 51_000 + b'"'), True),
    "another site": (asked(Sec_Fetch_Site="cross-site"), True),
    "another name": (asked(Host="evil.example"), True),
    "the last of its connection": (asked(Connection="close"), False),
    "an old one": (asked(first=b"POST /v1/select HTTP/1.0"), False),
    "asks whether it may": (asked(Expect="100-continue"), False),
    "asks for another protocol": (asked(Connection="Upgrade", Upgrade="h2c"), False),
    "with a question mark": (asked(first=b"POST /v1/select?a=b HTTP/1.1"), False),
    "another method": (asked(first=b"PUT /v1/select HTTP/1.1"), False),
    "another type": (asked(Content_Type="application/json; charset=utf-8"), False),
    "may be a stream": (asked(b"{}", first=b"POST /v1/chat/completions HTTP/1.1"), False),
    "broken off": (asked(Content_Length="1000"), False),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_both_ways_answer_the_same_bytes(
    open_shop: Running, direct: list[bytes], name: str
) -> None:
    request, is_direct = REQUESTS[name]
    whole = talk(open_shop, request)
    assert len(direct) == is_direct
    if is_direct:
        head, _, body = request.partition(b"\r\n\r\n")
        pieces = talk(open_shop, head + b"\r\n\r\n", body[:20], body[20:])
        assert whole == pieces
        # Without a body there is nothing to wait for once the head is whole.
        assert len(direct) == (1 if body else 2)


def test_several_at_once_are_answered_in_order(open_shop: Running, direct: list[bytes]) -> None:
    bodies = [GOOD, b"{", GOOD.replace(b"ann", b"bob"), GOOD]
    together = talk(open_shop, b"".join(map(asked, bodies)))
    alone = [talk(open_shop, asked(body)).removesuffix(b"(open)") for body in bodies]
    assert together == b"".join(alone) + b"(open)"
    assert len(direct) == 1 + len(bodies)  # those behind the first wait for it in the web server


def test_one_after_the_other(open_shop: Running, direct: list[bytes]) -> None:
    once = talk(open_shop, asked()).removesuffix(b"(open)")
    head, body = asked()[:-30], asked()[-30:]
    health = asked(b"", first=b"GET /healthz HTTP/1.1")
    healthy = talk(open_shop, health).removesuffix(b"(open)")
    mixed = talk(open_shop, asked(), asked(), head, body, health, asked())
    assert mixed == once * 3 + healthy + once + b"(open)"
    assert len(direct) == 4


def test_the_guard_counts_what_is_answered_directly(open_shop: Running) -> None:
    def counted() -> float:
        with open_shop.with_key(None) as client:
            lines = client.get("/metrics").text.splitlines()
        wanted = 'enough_requests_total{method="POST",route="/v1/select",status="200"} '
        return sum(float(one.removeprefix(wanted)) for one in lines if one.startswith(wanted))

    before = counted()
    talk(open_shop, asked(), asked())
    assert counted() == before + 2


def test_a_connection_rests_only_so_long(
    open_shop: Running, direct: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = Direct.connection_made

    def made(self: Direct, transport: Any) -> None:
        inner(self, transport)
        self.timeout_keep_alive = 1

    monkeypatch.setattr(Direct, "connection_made", made)
    with closing(socket.create_connection(open_shop.address, timeout=20)) as wire:
        for _ in range(3):  # each begins the time anew
            wire.sendall(asked())
            assert wire.recv(65_536).startswith(b"HTTP/1.1 200 ")
            time.sleep(0.6)
        began = time.monotonic()
        assert wire.recv(65_536) == b""
        assert time.monotonic() - began < 1
    assert len(direct) == 3


class Held(CoreEncoder):
    """Encodes when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.is_at_it, self.may_go = threading.Event(), threading.Event()

    def encode_here(self, texts: Any, kind: Any) -> Any:
        self.is_at_it.set()
        assert self.may_go.wait(20)
        return super().encode_here(texts, kind)


def test_a_server_that_stops_answers_first_and_says_so(tmp_path: Path, direct: list[bytes]) -> None:
    held = Held()
    with (
        running(settings(tmp_path, open=True), models(held)) as shop,
        closing(socket.create_connection(shop.address, timeout=20)) as wire,
    ):
        wire.sendall(asked())
        assert held.is_at_it.wait(20)
        shop.server.should_exit = True
        time.sleep(0.5)
        held.may_go.set()
        answer = b""
        while more := wire.recv(65_536):
            answer += more
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nconnection: close\r\n" in answer
    assert len(direct) == 1


def test_nothing_is_said_behind_a_refusal(
    tmp_path: Path, direct: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    held = Held()
    with running(settings(tmp_path, open=True), models(held)) as shop:
        with closing(socket.create_connection(shop.address, timeout=20)) as wire:
            wire.sendall(asked())
            assert held.is_at_it.wait(20)
            wire.sendall(b"no HTTP\r\n\r\n")
            assert wire.recv(65_536).startswith(b"HTTP/1.1 400 ")
            held.may_go.set()
            assert wire.recv(65_536) == b""
        assert talk(shop, asked()).startswith(b"HTTP/1.1 200 ")
    assert len(direct) == 2
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


def test_who_leaves_is_not_written_to(tmp_path: Path, direct: list[bytes]) -> None:
    held = Held()
    with running(settings(tmp_path, open=True), models(held)) as shop:
        with closing(socket.create_connection(shop.address, timeout=20)) as wire:
            wire.sendall(asked())
            assert held.is_at_it.wait(20)
        time.sleep(0.1)
        held.may_go.set()
        assert talk(shop, asked()).startswith(b"HTTP/1.1 200 ")
    assert len(direct) == 2
