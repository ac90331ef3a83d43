"""What happens around every route: key, scope, rate, room, body, time, measures, errors.

In: a request that a route matches. Out: the route's answer, or an error in the one shape. A route
says its scope with `@needs(...)`; one that says nothing is refused when the application is built.
The order matters: nobody without the right key gets a body read.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from enough.service.bodies_in import with_body
from enough.service.framework_errors import FRAMEWORK_ERRORS, problem_of_framework
from enough.service.measures import StageTimes
from enough.service.problems import problem_of
from enough.service.replies import refusal
from enough.service.state import Service, service_of
from enough.service.streams import Streamed
from enough.store.values import ApiKey, Scope

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Handler = Callable[[Request], Awaitable[Response]]
_SCOPE = "__enough_scope__"


def needs(scope: Scope | None) -> Callable[[Endpoint], Endpoint]:
    """Says which scope a route's key needs; None lets everybody in."""

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _SCOPE, scope)
        return endpoint

    return mark


class GuardedRoute(APIRoute):
    """A route with all of it around; for `APIRouter(route_class=...)`."""

    @property
    def scope(self) -> Scope | None:
        """What a key needs; None lets everybody in."""
        scope: Scope | None = getattr(self.endpoint, _SCOPE)
        return scope

    def get_route_handler(self) -> Any:
        """The handler inside its guard."""
        return self.guard(super().get_route_handler())

    def guard(self, inner: Handler) -> Handler:
        """All of it around anything that answers for this route."""
        if not hasattr(self.endpoint, _SCOPE):
            raise TypeError(f"the route {self.path} does not say which scope it needs")
        scope = self.scope

        async def guarded(request: Request) -> Response:
            service, times = service_of(request), StageTimes()
            request.state.times = times
            response = await _answered(request, scope, inner)
            timing = times.header()
            # No handler has said it, so nothing is to be looked for.
            response.raw_headers.append((b"server-timing", timing.encode("ascii")))
            service.measures.request(self.path_format, request.method, response.status_code, times)
            level = logging.DEBUG if scope is None else logging.INFO  # probes come all the time
            line = f"{request.method} {self.path_format} {response.status_code} {timing}"
            service.access_log.add(level, line)
            return response

        return guarded


async def _answered(request: Request, scope: Scope | None, inner: Handler) -> Response:
    """The route's answer, or an error; never an exception."""
    service = service_of(request)
    is_in = False
    try:
        if scope is not None:
            with request.state.times.stage("auth"):
                request.state.key = key = await _key(service, request)
                service.gate.require(key, scope)
                service.gate.count(key)
            service.enter()
            is_in = True
        limits = service.config.limits
        response = await inner(await with_body(request, limits.body_bytes, limits.timeout_s))
        if is_in and isinstance(response, Streamed):
            response.when_done = service.leave  # it is at work until its last piece is out
            is_in = False
        return response
    except FRAMEWORK_ERRORS as error:
        return refusal(problem_of_framework(error))
    except Exception as error:  # noqa: BLE001 (nobody gets a traceback)
        return refusal(problem_of(error))
    finally:
        if is_in:
            service.leave()


async def _key(service: Service, request: Request) -> ApiKey:
    known = service.gate.known(request.headers)
    if known is not None:
        return known
    with service.look_up():
        return await service.in_thread(lambda: service.gate.check(request.headers))
