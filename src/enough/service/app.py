"""The application: routes, errors in one shape, and what lives as long as it does.

In: a configuration, perhaps with models that are loaded already. Out: a FastAPI application.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from enough.errors import StoreError
from enough.service.api_page import api_page
from enough.service.bodies import ErrorBody
from enough.service.config import ServeConfig
from enough.service.framework_errors import problem_of_framework
from enough.service.guard import GuardedRoute
from enough.service.inspector import routes as inspector
from enough.service.machinery import Machinery, Models, load_models
from enough.service.measures import UNKNOWN_ROUTE
from enough.service.paths import NamesInPaths
from enough.service.problems import problem_of
from enough.service.replies import refusal
from enough.service.routes import chat, health, keys, records, select
from enough.service.shortcut import Shortcut, ShortcutApp
from enough.service.state import Service
from enough.service.store_door import StoreDoor

log = logging.getLogger("enough.service")
ROUTERS = [health.router, records.router, select.router, chat.router, keys.router]
_HOUSEKEEPING_S = 60.0
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": words}
    for status, words in {
        400: "Not JSON, cut short, or refused by the upstream.",
        401: "No API key, or one that opens nothing.",
        403: "The key lacks the scope.",
        404: "Nothing is under this path.",
        405: "The path has other methods.",
        408: "The body came too slowly.",
        409: "Another record has this id, or embeddings are another encoder's.",
        413: "Too large.",
        422: "A field is wrong.",
        429: "Too many requests, here or upstream.",
        500: "Something unforeseen; the log has the place.",
        502: "The upstream failed.",
        503: "Overloaded, or the store is away.",
        504: "Took too long, here or upstream.",
        507: "The store is full.",
    }.items()
}


def build_app(
    config: ServeConfig, models: Models | None = None, service: Service | None = None
) -> FastAPI:
    """Everything is loaded when the application starts, and closed when it stops.

    Args:
        config: the settings.
        models: in place of those the settings name.
        service: one that is started already.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        alive: Service
        alive = await asyncio.to_thread(started, config, models) if service is None else service
        app.state.service = alive
        chores = asyncio.create_task(_housekeeping(alive))
        try:
            yield
        finally:
            chores.cancel()
            with suppress(asyncio.CancelledError):
                await chores
            if alive.upstream is not None:
                await alive.upstream.close()
            await asyncio.to_thread(alive.close)

    app = ShortcutApp(
        title="enough",
        version=version("enough"),
        description="Records of users in, the few that are worth their tokens out.",
        lifespan=lifespan,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # it would send clients to whatever their Host header says
        responses=_ERRORS,
    )
    metrics = health.open_metrics if config.open_metrics else health.guarded_metrics
    pages = [inspector.router] if config.inspector else []
    routers = [*ROUTERS, metrics, *pages]
    for router in routers:
        app.include_router(router)
    page = ""

    async def docs(_request: Request) -> Response:
        nonlocal page
        page = page or api_page(app.openapi())
        return HTMLResponse(page)

    app.add_route("/docs", docs, include_in_schema=False)
    _describe_keys(app, routers)
    app.add_exception_handler(HTTPException, _outside_of_routes)
    app.add_exception_handler(RequestValidationError, _outside_of_routes)
    app.add_exception_handler(Exception, _unforeseen)
    app.add_middleware(NamesInPaths)
    app.shortcut = Shortcut(ROUTERS)
    return app


def _describe_keys(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Tell clients that are made from the description which routes want a key."""
    schema = app.openapi()
    schema["components"]["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "`enough keys create`"}
    }
    for route in (route for router in routers for route in router.routes):
        if isinstance(route, GuardedRoute) and route.include_in_schema and route.scope is not None:
            for method in route.methods or ():
                schema["paths"][route.path_format][method.lower()]["security"] = [{"key": []}]


def started(config: ServeConfig, models: Models | None = None) -> Service:
    """The parts of a service, loaded; whatever is wrong with its settings is found here."""
    door = StoreDoor(config.store)
    try:
        machinery = Machinery(config, models or load_models(config), door)
        return Service(config, machinery, door)
    except BaseException:
        door.close()
        raise


async def _housekeeping(service: Service) -> None:
    while True:
        await asyncio.sleep(_HOUSEKEEPING_S)
        try:
            await asyncio.to_thread(service.housekeeping)
        except StoreError as error:
            log.warning("housekeeping: %s", error)


async def _outside_of_routes(request: Request, error: Exception) -> Response:
    problem = problem_of_framework(error)
    request.app.state.service.measures.request(UNKNOWN_ROUTE, "-", problem.status, None)
    return refusal(problem)


async def _unforeseen(_request: Request, error: Exception) -> Response:
    return refusal(problem_of(error))
