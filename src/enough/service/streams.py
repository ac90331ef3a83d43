"""Answers in pieces that stop when nobody listens any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send


class Streamed(StreamingResponse):
    """Server-sent events, until the last one is out or the client has left.

    Args:
        pieces: of the body.
        headers: beside those of every stream.
        patience_s: a client that takes nothing for so long is given up.
        close: called once, however it ends; also if nothing was sent.
    """

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        headers: dict[str, str],
        patience_s: float,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        quiet = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(pieces, headers={**headers, **quiet}, media_type="text/event-stream")
        self._patience_s, self._close = patience_s, close
        self.when_done: Callable[[], None] = lambda: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until it ends, or until the client has left or reads no more."""

        async def send_soon(message: Message) -> None:
            async with asyncio.timeout(self._patience_s):
                await send(message)

        sending = asyncio.ensure_future(self.stream_response(send_soon))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            self.when_done()
            if self._close is not None:
                await self._close()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
