"""The body of a request, whole and never larger than allowed.

In: an ASGI request. Out: the same request with its body in memory, or a `ProblemError` with 413
or 408. Nothing is parsed before all of it is there, and a sender who is too slow is given up.
"""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from enough.service.problems import ProblemError


async def with_body(request: Request, most: int, timeout_s: float) -> Request:
    """Read the body, also one that comes in chunks and says no length."""
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > most:
        raise _too_large(most)
    try:
        async with asyncio.timeout(timeout_s):
            body = await _read(request, most)
    except TimeoutError:
        raise ProblemError(
            408, "timeout", "the body took too long to arrive; send it again"
        ) from None
    except ClientDisconnect:
        raise ProblemError(
            400, "bad_request", "the connection closed before the body was here"
        ) from None
    is_sent = False

    async def replay() -> Message:
        nonlocal is_sent
        if is_sent:
            return await request.receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, replay)


async def _read(request: Request, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def _too_large(most: int) -> ProblemError:
    # The rest of the body is not read, so the connection cannot be used again.
    return ProblemError(
        413,
        "too_large",
        f"the body has more than {most} bytes; send less at once",
        headers={"Connection": "close"},
    )
