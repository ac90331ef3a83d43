"""Answers as JSON, whatever characters a user's text has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from enough.service.problems import ProblemError

_written = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Reply(Response):
    """A JSON answer. Half surrogates, which UTF-8 has no form for, are written as escapes."""

    media_type = "application/json"

    def __init__(
        self, content: Any, status_code: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(content, status_code, headers)

    def render(self, content: Any) -> bytes:
        """As bytes; numbers that are not finite are a mistake of ours."""
        return _written(content).encode("ascii")


def refusal(problem: ProblemError) -> Reply:
    """A problem as an answer."""
    return Reply(problem.body(), problem.status, problem.headers)
