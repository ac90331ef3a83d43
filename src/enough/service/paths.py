"""Names of users in paths: any text, slashes too.

In: a path as it was sent. Out: one that routes can match, in which a slash inside a name is still
`%2F`; `named` gives the name back. Without this, a server decodes paths before anybody can tell
slashes apart.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from enough.errors import DataError
from enough.service.problems import ProblemError
from enough.service.replies import refusal

LONGEST_NAME = 1000
"""Characters of a user's, a record's or a task's name."""
_KEPT = re.compile(rb"%(2f|25)", re.IGNORECASE)


class NamesInPaths:
    """ASGI middleware that decodes paths, except for slashes and percent signs in names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its path decoded."""
        if scope["type"] == "http" and (raw := scope.get("raw_path")) is not None:
            kept = _KEPT.sub(lambda found: b"%25" + found[1].upper(), raw)
            try:
                scope = {**scope, "path": unquote_to_bytes(kept).decode("utf-8")}
            except UnicodeDecodeError:
                problem = ProblemError(
                    400, "bad_request", "the path is not UTF-8; encode names as %XX"
                )
                await refusal(problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def named(part: str) -> str:
    """The name that a part of a path stands for.

    Raises:
        DataError: if it is longer than names are.
    """
    name = part.replace("%2F", "/").replace("%25", "%")
    if len(name) > LONGEST_NAME:
        raise DataError(f"a name has at most {LONGEST_NAME} characters, not {len(name)}")
    return name
