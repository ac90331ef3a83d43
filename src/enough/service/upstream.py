"""A chat service with OpenAI's interface, asked for answers.

In: the body of a chat completion. Out: its answer, whole or piece by piece; whatever goes wrong on
the other side is a `ProblemError` with 502 or 504. Its address and key come from the configuration
alone; nothing of a client's headers goes there.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from typing import Any

import httpx

from enough.errors import ConfigError
from enough.service.config import UpstreamConfig
from enough.service.problems import ProblemError, log

_REFUSED = {400, 404, 409, 413, 415, 422}


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
        self._client = httpx.AsyncClient(
            base_url=config.url.rstrip("/"),
            headers=headers,
            timeout=config.timeout_s,
            limits=httpx.Limits(max_connections=None),
            trust_env=False,  # the address is the configuration's, not some variable's
        )

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """One whole answer."""
        response = await self._send(body)
        try:
            raw = await response.aread()
        except httpx.HTTPError as error:
            raise _failed(error) from None
        finally:
            await response.aclose()
        try:
            found: dict[str, Any] = json.loads(raw)
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
        try:
            async for line in self._response.aiter_lines():
                yield line
        except httpx.HTTPError as error:
            raise _failed(error) from None

    async def close(self) -> None:
        """Hang up."""
        await self._response.aclose()


def text_of(answer: dict[str, Any]) -> str:
    """The text of a completion."""
    content = answer["choices"][0]["message"].get("content")
    return content if isinstance(content, str) else ""


def _failed(error: httpx.HTTPError) -> ProblemError:
    log.warning("upstream: %s", type(error).__name__)
    if isinstance(error, httpx.TimeoutException):
        return ProblemError(504, "upstream_timeout", "upstream did not answer in time; try again")
    return ProblemError(502, "upstream_failed", "upstream cannot be reached, or broke off")


async def _refused(response: httpx.Response) -> ProblemError:
    status = response.status_code
    log.warning("upstream: status %d", status)
    if status == 429:
        after = response.headers.get("Retry-After", "1")
        return ProblemError(
            429, "upstream_busy", "upstream has too many requests", headers={"Retry-After": after}
        )
    if status not in _REFUSED:
        return ProblemError(502, "upstream_failed", f"upstream answered with status {status}")
    try:
        await response.aread()
        said = str(response.json()["error"]["message"])[:500]
    except (httpx.HTTPError, ValueError, LookupError, TypeError):
        said = f"status {status}"
    return ProblemError(400, "upstream_refused", f"upstream refuses the request: {said}")
