"""A chat service to stand behind the proxy: real HTTP, and every fault on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


class ChatServer(ThreadingHTTPServer):
    """Keeps what it was asked; `mood` is how it answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.mood = "fine"
        self.hung_up = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body | {"path": self.path})
        self.server.headers.append({k.lower(): v for k, v in self.headers.items()})
        mood = self.server.mood
        if mood == "slow":
            time.sleep(1.5)
        if mood == "dripping":
            self._drip()
            return
        if mood == "nan":
            self._send(200, json.dumps(answer(body) | {"usage": {"total_tokens": float("nan")}}))
            return
        if mood == "huge":
            with suppress(OSError):
                self._send(200, " " * 20_000_000)
            return
        if mood == "broken":
            self.close_connection = True
            self.connection.close()
        elif mood == "429 odd":
            self.send_response(429)
            self.send_header("Retry-After", "dans une minute \xe9")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif mood.isdigit():
            self._send(int(mood), json.dumps({"error": {"message": "too long, says upstream"}}))
        elif mood == "garbage":
            self._send(200, "<html>")
        elif mood == "empty":
            self._send(200, '{"choices": []}')
        elif body.get("stream"):
            self._stream(body, mood)
        else:
            self._send(200, json.dumps(answer(body)))

    def _send(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def _drip(self) -> None:
        """A byte now and then, so that no pause is long."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            for _ in range(100):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            self.server.hung_up.set()

    def _stream(self, body: dict[str, Any], mood: str) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        try:
            for number, piece in enumerate(["Hel", "lo"] if mood != "endless" else ["x"] * 10_000):
                if mood == "torn" and number == 1:
                    self._event("{not json")
                    return
                if mood == "cut" and number == 1:
                    return
                if mood == "odd" and number == 1:  # as events may be
                    self.wfile.write(b"data:\r\n\r\n: a comment\r\rdata: ")
                    odd = {"content": "a\u2028b\x85c"}
                    choices = [{"index": 0, "delta": odd, "finish_reason": None}]
                    text = json.dumps(head | {"choices": choices}, ensure_ascii=False)
                    self.wfile.write(f"{text}\r\n\r\n".encode())
                    continue
                delta = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
                self._event(json.dumps(head | {"choices": [delta]}))
                time.sleep(0.01 if mood == "endless" else 0)
            if body.get("stream_options", {}).get("include_usage"):
                self._event(json.dumps(head | {"choices": [], "usage": USAGE}))
            self._event("[DONE]")
        except OSError:
            self.server.hung_up.set()

    def _event(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()


def answer(body: dict[str, Any]) -> dict[str, Any]:
    said = f"{len(body['messages'])} messages"
    message = {"role": "assistant", "content": said}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": USAGE,
    }


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    server = ChatServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
