"""A service in a process of its own, and clients that time it.

In: questions. Out: what each answer took, by the client's clock and by the service's own.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from enough.bench.clients import drive
from enough.errors import EnoughError

_PATIENCE_S = 300.0  # for the models to load
_GOOD = b"HTTP/1.1 200"
_STAGE = re.compile(r"(\w+);dur=([\d.]+)")


@dataclass(frozen=True, slots=True)
class Timed:
    """One answer, in milliseconds: by the client's clock, by the service's, and its encoding."""

    client_ms: float
    total_ms: float
    encode_ms: float


@dataclass(frozen=True, slots=True)
class Driven:
    """All answers of some clients, how long they were at it together, and what it cost.

    Attributes:
        answers: those that were 200.
        seconds: from the first question to the last answer.
        failures: questions without one.
        service_cpu_s: the service's processor time meanwhile; 0 where the system does not say.
        client_cpu_s: this process's.
    """

    answers: tuple[Timed, ...]
    seconds: float
    failures: int
    service_cpu_s: float
    client_cpu_s: float


def joined(parts: Sequence[Driven]) -> Driven:
    """Several one after the other as one."""
    return Driven(
        tuple(answer for part in parts for answer in part.answers),
        sum(part.seconds for part in parts),
        sum(part.failures for part in parts),
        sum(part.service_cpu_s for part in parts),
        sum(part.client_cpu_s for part in parts),
    )


class ServiceProcess:
    """`enough serve` on a free port of this machine, with an empty store; a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port: int = free.getsockname()[1]
        folder = Path(self._folder.name)
        config = folder / "serve.toml"
        config.write_text(
            f"port = {self._port}\nopen = true\n"
            f"[store]\ndatabase = {json.dumps(str(folder / 'bench.sqlite'))}\n"
            "[limits]\nrequests_per_minute = 0\n",
            encoding="utf-8",
        )
        command = [sys.executable, "-m", "enough", "serve", "--config", str(config)]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def __enter__(self) -> ServiceProcess:
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until and self._process.poll() is None:
            try:
                if self._request("GET", "/readyz")[0] == 200:
                    return self
            except OSError:
                time.sleep(0.2)
        self.__exit__(None, None, None)
        raise EnoughError("the service did not start; `enough serve` says why")

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(60)
        self._folder.cleanup()

    def post(self, path: str, body: object) -> dict[str, Any]:
        """One request that has to succeed."""
        status, answer = self._request("POST", path, body)
        if status != 200:
            raise EnoughError(f"{path}: status {status}")
        found: dict[str, Any] = json.loads(answer)
        return found

    def explained(self, question: Mapping[str, object]) -> list[dict[str, Any]]:
        """The pool of a question."""
        answer = self.post("/v1/select", {**question, "explain": True})
        found: list[dict[str, Any]] = answer["trace"][0]["records"] if answer["trace"] else []
        return found

    def ask(self, questions: Sequence[Mapping[str, object]], clients: int) -> Driven:
        """All questions, shared among so many clients."""
        messages = [self._message(json.dumps(one).encode()) for one in questions]
        began, service_cpu, client_cpu = time.perf_counter(), self._cpu_s(), time.process_time()
        came = drive(self._port, messages, clients)  # read when all are there
        seconds = time.perf_counter() - began
        service_cpu, client_cpu = self._cpu_s() - service_cpu, time.process_time() - client_cpu
        answers = tuple(_timed(took, head) for took, head in came if head.startswith(_GOOD))
        failures = len(questions) - len(answers)  # also what a broken connection left unanswered
        return Driven(answers, seconds, failures, service_cpu, client_cpu)

    def memory_mb(self) -> float:
        """What the process holds in memory; 0 where the system does not say."""
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        except OSError:
            return 0.0
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1000 if found else 0.0

    def _cpu_s(self) -> float:
        """Processor time of the service since it began; 0 where the system does not say."""
        try:
            text = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return 0.0
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _message(self, body: bytes) -> bytes:
        head = (
            f"POST /v1/select HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def _connection(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _request(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        with closing(self._connection()) as connection:
            raw = None if body is None else json.dumps(body)
            connection.request(method, path, raw, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()


def _timed(seconds: float, head: bytes) -> Timed:
    stages = dict(_STAGE.findall(head.decode("latin-1")))
    return Timed(seconds * 1000, float(stages["total"]), float(stages["encode"]))
