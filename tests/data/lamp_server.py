"""A real HTTP server on the loopback that serves LaMP's layout and can be made to misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.data.world import movie_input


@dataclass
class Server:
    """What is served, how it misbehaves, and what it was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: list[int] = field(default_factory=list)
    """For each coming answer: how many bytes are sent before the connection is cut."""
    statuses: list[int] = field(default_factory=list)
    ranges: bool = True
    tag: str | None = '"one"'
    shifted: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def asked_for(self, path: str) -> list[str | None]:
        return [asked_range for name, asked_range in self.asked if name == path]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Server

    def do_GET(self) -> None:
        state = self.state
        wanted = self.headers.get("Range")
        state.asked.append((self.path, wanted))
        if state.statuses:
            return self._send(state.statuses.pop(0), b"")
        body = state.files.get(self.path)
        if body is None:
            return self._send(404, b"no such page")
        unchanged = self.headers.get("If-Range") in (None, state.tag)
        if not (state.ranges and wanted and unchanged):
            return self._send(200, body, **self._tag())
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if start >= len(body):
            return self._send(416, b"", **{"Content-Range": f"bytes */{len(body)}"})
        start += state.shifted
        extent = f"bytes {start}-{len(body) - 1}/{len(body)}"
        return self._send(206, body[start:], **{"Content-Range": extent}, **self._tag())

    def _tag(self) -> dict[str, str]:
        return {"ETag": self.state.tag} if self.state.tag else {}

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut = self.state.cut_after.pop(0) if self.state.cut_after else len(body)
        self.wfile.write(body[:cut])
        if cut < len(body):
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running() -> Iterator[Server]:
    state = Server()
    handler = type("BoundHandler", (Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        state.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        http.shutdown()
        thread.join()


def serve_split(server: Server, split: str = "dev", prefix: str = "/time/LaMP_2/new") -> None:
    profile = [{"id": str(i), "description": f"Film {i}.", "tag": "comedy"} for i in range(50)]
    questions = [{"id": "110", "input": movie_input("A dog."), "profile": profile, "user_id": "7"}]
    outputs = {"task": "LaMP_2", "golds": [{"id": "110", "output": "classic"}]}
    for kind, content in (("questions", questions), ("outputs", outputs)):
        server.files[f"{prefix}/{split}/{split}_{kind}.json"] = json.dumps(content).encode()
