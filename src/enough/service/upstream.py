"""A chat service with OpenAI's interface, asked for answers.

In: the body of a chat completion. Out: its answer, whole or piece by piece; whatever goes wrong on
the other side is a `ProblemError` with 502 or 504. Its address and key come from the configuration
alone; nothing of a client's headers goes there.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx

from enough.errors import ConfigError
from enough.service.config import UpstreamConfig
from enough.service.problems import ProblemError, log

_REFUSED = {400, 404, 409, 413, 415, 422}
_MOST_BYTES = 16_000_000  # of an answer, and of one line of a stream
_LINE_END = re.compile(rb"\r\n|\n|\r")  # no others: a text may hold U+2028 as it is


class Upstream:
    """One connection pool to one service."""

    def __init__(self, config: UpstreamConfig) -> None:
        headers = {}
        if config.key_variable:
            key = os.environ.get(config.key_variable, "")
            if not key:
                raise ConfigError(
                    f"upstream.key_variable names {config.key_variable}, which is not set"
                )
            headers["Authorization"] = f"Bearer {key}"
        self.model = config.model
        self._timeout_s = config.timeout_s
        self._client = httpx.AsyncClient(
            base_url=config.url.rstrip("/"),
            headers=headers,
            timeout=config.timeout_s,
            limits=httpx.Limits(max_connections=None),
            trust_env=False,  # the address is the configuration's, not some variable's
        )

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """One whole answer, in the time that is given to it."""
        try:
            async with asyncio.timeout(self._timeout_s):  # httpx's is for each piece of it
                response = await self._send(body)
                try:
                    raw = await _whole(response)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.HTTPError) as error:
            raise _failed(error) from None
        try:
            found: dict[str, Any] = parsed(raw)
            is_answer = isinstance(found["choices"][0]["message"], dict)
        except (ValueError, LookupError, TypeError, RecursionError):
            is_answer = False
        if not is_answer:
            raise ProblemError(502, "upstream_failed", "upstream sent no chat completion")
        return found

    async def stream(self, body: dict[str, Any]) -> UpstreamLines:
        """An answer as it comes; errors before its first line are raised here."""
        response = await self._send(body)
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            await response.aclose()
            raise ProblemError(502, "upstream_failed", "upstream sent no stream of events")
        return UpstreamLines(response)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _send(self, body: dict[str, Any]) -> httpx.Response:
        request = self._client.build_request(
            "POST",
            "/chat/completions",
            content=json.dumps(body),  # in ASCII: a text may hold half a character
            headers={"Content-Type": "application/json"},
        )
        try:
            response = await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise _failed(error) from None
        if response.is_success:
            return response
        try:
            raise await _refused(response)
        finally:
            await response.aclose()


class UpstreamLines:
    """Lines of a streamed answer; close it, whether it ended or not."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[str]:
        held: list[bytes] = []  # of a line that has not ended
        size = 0
        try:
            async for piece in self._response.aiter_bytes():
                held.append(piece)
                size += len(piece)
                if size > _MOST_BYTES:
                    raise _too_much()
                if b"\n" not in piece and b"\r" not in piece:
                    continue
                text = b"".join(held)
                cut = len(text) - text.endswith(b"\r")  # its other half may be on its way
                *lines, rest = _LINE_END.split(text[:cut])
                for line in lines:
                    yield line.decode("utf-8", "replace")
                held = [rest + text[cut:]]
                size = len(held[0])
        except httpx.HTTPError as error:
            raise _failed(error) from None
        if last := b"".join(held):
            yield last.removesuffix(b"\r").decode("utf-8", "replace")

    async def close(self) -> None:
        """Hang up."""
        await self._response.aclose()


def text_of(answer: dict[str, Any]) -> str:
    """The text of a completion."""
    content = answer["choices"][0]["message"].get("content")
    return content if isinstance(content, str) else ""


def parsed(raw: bytes | str) -> Any:
    """JSON as it is written down: without NaN and infinities, which we could not pass on."""

    def refused(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    return json.loads(raw, parse_constant=refused)


async def _whole(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > _MOST_BYTES:
            raise _too_much()
        parts.append(part)
    return b"".join(parts)


def _too_much() -> ProblemError:
    return ProblemError(502, "upstream_failed", "upstream sent more than an answer can be")


def _failed(error: Exception) -> ProblemError:
    log.warning("upstream: %s", type(error).__name__)
    if isinstance(error, (TimeoutError, httpx.TimeoutException)):
        return ProblemError(504, "upstream_timeout", "upstream did not answer in time; try again")
    return ProblemError(502, "upstream_failed", "upstream cannot be reached, or broke off")


async def _refused(response: httpx.Response) -> ProblemError:
    status = response.status_code
    log.warning("upstream: status %d", status)
    if status == 429:
        after = response.headers.get("Retry-After", "")
        after = after if after.isascii() and after.isdigit() else "1"
        return ProblemError(
            429, "upstream_busy", "upstream has too many requests", headers={"Retry-After": after}
        )
    if status not in _REFUSED:
        return ProblemError(502, "upstream_failed", f"upstream answered with status {status}")
    try:
        said = str(parsed(await _whole(response))["error"]["message"])[:500]
    except (ProblemError, httpx.HTTPError, ValueError, LookupError, TypeError, RecursionError):
        said = f"status {status}"
    return ProblemError(400, "upstream_refused", f"upstream refuses the request: {said}")
