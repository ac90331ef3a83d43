"""Requests with a JSON body for a path without names in it, answered without further layers.

In: an ASGI request. Out: what the application would answer, through the same guard. Between two
encodings little of a processor's cache is left, so every layer that a request goes through is read
from memory again: without the web framework's dozen the event loop takes two fifths less. Whatever
is not as plain (a name in the path, another content type, no such path) goes the long way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from inspect import get_annotations, signature
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from enough.service.guard import GuardedRoute, Handler
from enough.service.problems import ProblemError

_CONTENT_TYPE = (b"content-type", b"application/json")


class Shortcut:
    """Which requests have a shorter way.

    Args:
        routers: whose routes may have one.
    """

    def __init__(self, routers: Iterable[APIRouter]) -> None:
        self._handlers: dict[tuple[str, str], Handler] = {}
        for route in (route for router in routers for route in router.routes):
            if isinstance(route, GuardedRoute) and (body := _only_body(route)) is not None:
                handler = route.guard(_plain(route.endpoint, *body))
                self._handlers |= {(method, route.path): handler for method in route.methods or ()}

    def handler(self, scope: Scope) -> Handler | None:
        """Who answers this request by itself; None if it goes the long way."""
        if scope["type"] == "http" and _CONTENT_TYPE in scope["headers"]:
            return self._handlers.get((scope["method"], scope["path"]))
        return None


class ShortcutApp(FastAPI):
    """An application that answers some requests before its own layers see them."""

    shortcut: Shortcut | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        handler = None if self.shortcut is None else self.shortcut.handler(scope)
        if handler is None:
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        response = await handler(Request(scope, receive))
        await response(scope, receive, send)


def _only_body(route: GuardedRoute) -> tuple[str, type[BaseModel]] | None:
    """Name and type of the body, where a route asks for nothing else beside the request."""
    given = get_annotations(route.endpoint, eval_str=True)
    names = [name for name in signature(route.endpoint).parameters if name != "request"]
    if route.param_convertors or len(names) != 1:
        return None
    kind = given[names[0]]
    is_body = isinstance(kind, type) and issubclass(kind, BaseModel)
    return (names[0], kind) if is_body else None


def _plain(endpoint: Any, name: str, model: type[BaseModel]) -> Handler:
    """The route's function, given its body; what is wrong with that is said as ever."""

    async def answer(request: Request) -> Response:
        try:
            body = model.model_validate(_parsed(await request.body()), from_attributes=True)
        except ValidationError as error:
            wrong = [one | {"loc": ("body", *one["loc"])} for one in error.errors()]
            raise RequestValidationError(wrong) from None
        response: Response = await endpoint(request, **{name: body})
        return response

    return answer


def _parsed(raw: bytes) -> Any:
    """JSON as the framework reads it; it takes half surrogates, which faster parsers do not."""
    if not raw:
        raise RequestValidationError(
            [{"type": "missing", "loc": ("body",), "msg": "Field required"}]
        )
    try:
        return json.loads(raw)
    except json.JSONDecodeError as error:
        raise ProblemError(400, "bad_request", f"the body is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):  # not UTF-8, or too deep
        raise HTTPException(400) from None
