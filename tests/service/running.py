"""A real server in a thread, around models without weights."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import httpx
import numpy as np
import uvicorn

from enough.generators.fake import FakeTokenizer
from enough.protocols import Floats
from enough.service.app import build_app
from enough.service.config import LimitsConfig, ServeConfig
from enough.service.machinery import Models
from enough.service.server import server_settings
from enough.service.state import Service
from enough.store.config import StoreConfig
from enough.store.values import Scope
from tests.online.stand_ins import random_controller
from tests.retrieval.tiny import BagEncoder

TASK = "LaMP-7"


class UnitEncoder(BagEncoder):
    """Directions alone: products are cosines."""

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        vectors = super().encode(texts, kind)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1), np.float32)


class CoreEncoder(UnitEncoder):
    """Two threads, a text each: as the default encoder is on two cores."""

    is_symmetric, is_normalised, batch_rows, lanes = True, True, 1, 2

    def start_threads(self, work: Callable[[], None]) -> list[threading.Thread]:
        threads = [threading.Thread(target=work, daemon=True) for _ in range(self.lanes)]
        for thread in threads:
            thread.start()
        return threads

    def encode_here(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        return UnitEncoder.encode(self, texts, kind)


class SafeTokenizer(FakeTokenizer):
    """Texts from the web hold anything."""

    def encode(self, text: str) -> Any:
        return super().encode(text.encode("utf-8", "replace").decode())


def models(encoder: Any = None, window: int = 2000) -> Models:
    return Models(encoder or CoreEncoder(), SafeTokenizer(), window, random_controller("", ""))


def settings(folder: Path, **changes: Any) -> ServeConfig:
    config = ServeConfig(
        port=0,
        store=StoreConfig(str(folder / "enough.sqlite"), wait_s=5.0),
        limits=LimitsConfig(requests_per_minute=0),
        shutdown_s=10.0,
    )
    return replace(config, **changes)


class Running:
    """A server that answers, and who may ask it."""

    def __init__(self, server: uvicorn.Server, thread: threading.Thread, app: Any) -> None:
        self.server, self.thread, self.app = server, thread, app
        port = server.servers[0].sockets[0].getsockname()[1]
        self.address, self.url = ("127.0.0.1", port), f"http://127.0.0.1:{port}"

    @property
    def service(self) -> Service:
        service: Service = self.app.state.service
        return service

    def key(self, *scopes: str, tenant: str = "shop") -> str:
        given = [Scope(one) for one in scopes] or list(Scope)
        return self.service.door.open().keys.create(tenant, given).secret

    def client(self, *scopes: str, tenant: str = "shop") -> httpx.Client:
        """With a key of these scopes, or of all."""
        return self.with_key(self.key(*scopes, tenant=tenant))

    def with_key(self, secret: str | None) -> httpx.Client:
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)


@contextmanager
def running(config: ServeConfig, loaded: Models | None = None) -> Iterator[Running]:
    """Serve in a thread until the block is left."""
    app = build_app(config, loaded or models())
    server = uvicorn.Server(server_settings(config, app))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive() and time.monotonic() < until
        time.sleep(0.005)
    try:
        yield Running(server, thread, app)
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def tweets(count: int, start: int = 0, word: str = "late") -> list[dict[str, Any]]:
    return [
        {"id": f"t{n}", "text": f"{word} bus {n} w{n % 7}", "date": f"2020-01-{n % 28 + 1:02d}"}
        for n in range(start, start + count)
    ]
