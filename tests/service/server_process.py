"""A service in a process of its own, around models without weights: to be killed or told to stop.

Run as `python -m tests.service.server_process FOLDER PORT [SECONDS]`; encoding a query takes so
long.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import httpx
import uvicorn

from enough.protocols import Floats
from enough.service.app import build_app
from enough.service.server import server_settings
from tests.retrieval.tiny import BagEncoder
from tests.service.running import models, settings


class SlowEncoder(BagEncoder):
    """Takes its time for queries."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        if kind == "query":
            time.sleep(self._seconds)
        return super().encode(texts, kind)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def process(folder: Path, port: int, seconds: float = 0.0) -> Iterator[subprocess.Popen[bytes]]:
    """A process that answers; killed at the end if it still runs."""
    command = [sys.executable, "-m", __name__, str(folder), str(port), str(seconds)]
    running = subprocess.Popen(command, cwd=Path(__file__).parent.parent.parent)
    try:
        until = time.monotonic() + 60
        while True:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).is_success:
                    break
            except httpx.TransportError:
                assert time.monotonic() < until and running.poll() is None
                time.sleep(0.05)
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGKILL)
        running.wait()


def main(folder: str, port: str, seconds: str) -> None:
    config = replace(settings(Path(folder)), port=int(port), open=True)
    app = build_app(config, models(SlowEncoder(float(seconds))))
    uvicorn.Server(server_settings(config, app)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
