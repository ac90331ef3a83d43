"""Streamed chat completions: events with what a profile took added to their usage.

In: lines of an upstream's stream, or a whole local answer. Out: the bytes of a stream as OpenAI's
clients read it. What breaks on the way is one last event with the error.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from enough.service.problems import ProblemError, problem_of
from enough.service.upstream import parsed

_DONE = "[DONE]"
_EMPTY = re.compile(r"data:?\s*")


async def with_usage(
    lines: AsyncIterable[str], enough: dict[str, Any] | None
) -> AsyncIterator[bytes]:
    """An upstream's events; `enough` is put beside the usage, where there is one."""
    try:
        async for line in lines:
            if not _EMPTY.fullmatch(line):  # it says nothing, and clients trip over it
                yield f"{_checked(line, enough)}\n".encode()
    except Exception as error:  # noqa: BLE001 (the head is out: only an event can say it)
        yield _event(problem_of(error).body())


def _checked(line: str, enough: dict[str, Any] | None) -> str:
    kind, found, data = line.partition(":")
    if kind != "data" or not found or data.strip() == _DONE:
        return line
    try:
        event = parsed(data)
    except (ValueError, RecursionError):
        raise ProblemError(
            502, "upstream_failed", "upstream sent an event that is no JSON"
        ) from None
    if enough is None or not isinstance(event, dict) or not isinstance(event.get("usage"), dict):
        return line
    event["usage"]["enough"] = enough
    return f"data: {json.dumps(event)}"


async def as_events(answer: dict[str, Any], *, usage: bool) -> AsyncIterator[bytes]:
    """A whole answer as a stream: its text in one piece, then the end."""
    head = {key: answer[key] for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    choice = answer["choices"][0]
    delta = {"role": "assistant", "content": choice["message"]["content"]}
    yield _event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    ends = choice["finish_reason"]
    yield _event(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": ends}]})
    if usage:
        yield _event(head | {"choices": [], "usage": answer["usage"]})
    yield f"data: {_DONE}\n\n".encode()


def _event(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()
