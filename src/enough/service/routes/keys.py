"""API keys of a tenant, for its admins."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from enough.service.bodies import KeyIn, KeyMade, KeysList, Revoked
from enough.service.guard import GuardedRoute, needs
from enough.service.paths import named
from enough.service.replies import Reply
from enough.service.state import service_of
from enough.store.values import ApiKey, Scope

router = APIRouter(route_class=GuardedRoute, tags=["keys"])


@router.post("/v1/keys", response_model=KeyMade)
@needs(Scope.ADMIN)
async def create_key(request: Request, body: KeyIn) -> Reply:
    """Make a key for the same tenant; its secret is in the answer and nowhere else."""
    service, tenant = service_of(request), request.state.key.tenant
    made = await service.in_thread(lambda: service.door.open().keys.create(tenant, body.scopes))
    return Reply(_line(made.key) | {"secret": made.secret})


@router.get("/v1/keys", response_model=KeysList)
@needs(Scope.ADMIN)
async def list_keys(request: Request) -> Reply:
    """All keys of the tenant, revoked ones too, oldest first."""
    service, tenant = service_of(request), request.state.key.tenant
    keys = await service.in_thread(lambda: service.door.open().keys.keys(tenant))
    return Reply({"keys": [_line(key) for key in keys]})


@router.delete("/v1/keys/{key}", response_model=Revoked)
@needs(Scope.ADMIN)
async def revoke_key(request: Request, key: str) -> Reply:
    """From now on the key opens nothing; other processes follow within a second."""
    service, tenant = service_of(request), request.state.key.tenant
    done = await service.in_thread(lambda: service.door.open().keys.revoke(tenant, named(key)))
    service.gate.forget()
    return Reply({"revoked": done})


def _line(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "tenant": key.tenant,
        "scopes": sorted(scope.value for scope in key.scopes),
        "created": key.created.isoformat(),
        "revoked": None if key.revoked is None else key.revoked.isoformat(),
    }
