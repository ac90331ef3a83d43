"""Plain requests that came whole are answered without the messages of ASGI.

In: a connection. Out: the answers the application gives, byte for byte. What the web server keeps
of a request, so that bodies and answers may come and go in pieces, is not needed where head and
body came together and the answer leaves in one piece; between two encodings it costs more than
reading the request. So a head with a shortcut waits until its data is read: with all of the body
in it, the handler is called directly. With less, and for all that is not plain, the web server goes
on as if nothing had been kept back.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from starlette.responses import PlainTextResponse, Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from enough.service.bodies_in import WholeRequest
from enough.service.guard import Handler
from enough.service.one_write import Joined, OneWrite
from enough.service.shortcut import CONTENT_TYPE, ShortcutApp


class _Answering:
    """What the web server asks of a request that is under way."""

    __slots__ = ("disconnected", "keep_alive", "message_event", "response_complete")

    def __init__(self, nobody: asyncio.Event) -> None:
        self.keep_alive, self.disconnected, self.response_complete = True, False, False
        self.message_event = nobody


class Direct(OneWrite):
    """HTTP on a connection, with a shortcut for plain requests."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection."""
        self._handler: Handler | None = None  # whose request has a head and waits for its body
        self._parts: list[bytes] = []
        self._nobody = asyncio.Event()  # nobody waits for pieces of a body that is here
        app: Any = self.app
        self._handlers = app.at_once if isinstance(app, ShortcutApp) else {}
        self._resting: float | None = None  # since when nothing is under way
        self._rest_timer: asyncio.TimerHandle | None = None
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        self._resting = None
        super().data_received(data)
        if self._handler is not None:
            self._go_the_long_way()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it."""
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Keep a plain head back."""
        handler = self._handlers.get((self.parser.get_method(), self.url))
        if handler is None or not self._is_plain():
            super().on_headers_complete()
            return
        self.head_is_whole()
        self._handler, self._parts = handler, []

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if self._handler is None:
            super().on_body(body)
        else:
            self._parts.append(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        if self._handler is None:
            super().on_message_complete()
            return
        handler, self._handler = self._handler, None
        scope: Any = self.scope
        path = self.url.decode("ascii")
        scope |= {"method": self.parser.get_method().decode("ascii"), "path": path}
        scope |= {"raw_path": self.url, "query_string": b"", "app": self.app}
        cycle = _Answering(self._nobody)
        self.cycle = cast("RequestResponseCycle", cycle)
        request = WholeRequest(scope, b"".join(self._parts))
        task = self.loop.create_task(self._answer(cycle, handler, request))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)  # a server that stops waits for it

    def _is_plain(self) -> bool:
        parser = self.parser
        return (
            CONTENT_TYPE in self.headers
            and not self.expect_100_continue
            and not parser.should_upgrade()
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and (self.cycle is None or self.cycle.response_complete)
        )

    def _go_the_long_way(self) -> None:
        self._handler, parts = None, self._parts
        super().on_headers_complete()
        for part in parts:
            super().on_body(part)

    async def _answer(self, cycle: _Answering, handler: Handler, request: WholeRequest) -> None:
        try:
            response = await handler(request)
            if self.flow.write_paused and not cycle.disconnected:
                await self.flow.drain()
        except BaseException as error:  # the server does not wait any longer
            self.logger.error("Exception in ASGI application\n", exc_info=error)
            response = PlainTextResponse("Internal Server Error", 500, {"Connection": "close"})
        if not cycle.disconnected:
            self._send(cycle, response)

    def _send(self, cycle: _Answering, response: Response) -> None:
        parts, says_close = [STATUS_LINE[response.status_code]], False
        for name, value in (*self.server_state.default_headers, *response.raw_headers):
            parts += (name, b": ", value, b"\r\n")
            says_close = says_close or name == b"connection"  # no other word is said there
        if not (cycle.keep_alive or says_close):
            parts.append(b"connection: close\r\n")
        cast("Joined", self.transport).write_whole(b"".join((*parts, b"\r\n", response.body)))
        cycle.response_complete = True
        if says_close or not cycle.keep_alive:
            self.transport.close()
        if self.pipeline or self.transport.is_closing():
            self.on_response_complete()
        else:
            self._rest()

    def _rest(self) -> None:
        """What `on_response_complete` does, but for a timer that most requests would cancel."""
        self.server_state.total_requests += 1
        self.flow.resume_reading()
        self._resting = self.loop.time()
        if self._rest_timer is None:
            self._rest_timer = self.loop.call_later(self.timeout_keep_alive, self._has_rested)

    def _has_rested(self) -> None:
        self._rest_timer, since = None, self._resting
        if since is None:  # something is under way, or the web server's own timer is at it
            return
        left = since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._rest_timer = self.loop.call_later(left, self._has_rested)
        else:
            self.timeout_keep_alive_handler()
