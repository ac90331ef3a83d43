"""Whether the service lives and can work; what it measures."""

from __future__ import annotations

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse, Response

from enough.service.bodies import Health
from enough.service.guard import GuardedRoute, needs
from enough.service.replies import Reply
from enough.service.state import service_of
from enough.store.values import Scope

router = APIRouter(route_class=GuardedRoute, tags=["health"])
guarded_metrics = APIRouter(route_class=GuardedRoute, tags=["health"])
open_metrics = APIRouter(route_class=GuardedRoute, tags=["health"])


@router.get("/healthz", response_model=Health, response_model_exclude_none=True)
@needs(None)
async def healthz() -> Reply:
    """The process answers."""
    return Reply({"status": "ok"})


@router.get("/readyz", response_model=Health, responses={503: {"model": Health}})
@needs(None)
async def readyz(request: Request) -> Reply:
    """The store answers and the models are loaded."""
    service = service_of(request)
    store = await service.in_thread(service.door.is_reachable)
    models = service.machinery.is_loaded
    is_ready = store and models
    status = "ok" if is_ready else "unavailable"
    body = {"status": status, "store": store, "models": models}
    return Reply(body, 200 if is_ready else 503)


@guarded_metrics.get("/metrics", response_class=PlainTextResponse)
@needs(Scope.ADMIN)
async def metrics(request: Request) -> Response:
    """For Prometheus."""
    return Response(service_of(request).measures.page(), media_type=CONTENT_TYPE_LATEST)


@open_metrics.get("/metrics", response_class=PlainTextResponse)
@needs(None)
async def metrics_for_all(request: Request) -> Response:
    """For Prometheus."""
    return Response(service_of(request).measures.page(), media_type=CONTENT_TYPE_LATEST)
