"""Records of users: stored, listed, erased."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request

from enough.data.logs import record_line
from enough.errors import StoreError
from enough.service.bodies import (
    Erased,
    IdsIn,
    Name,
    RecordsIn,
    RecordsPage,
    Reembedded,
    Stored,
    UsersPage,
)
from enough.service.guard import GuardedRoute, needs
from enough.service.paths import named
from enough.service.record_lists import parsed, unread_fields_of
from enough.service.replies import Reply
from enough.service.state import Service, service_of
from enough.store.embedding import RecordEmbedder
from enough.store.values import Owner, Scope

log = logging.getLogger("enough.service")
router = APIRouter(route_class=GuardedRoute, tags=["records"])

TaskName = Annotated[Name, Query()]
After = Annotated[str | None, Query(max_length=40)]
Limit = Annotated[int, Query(ge=1, le=1000)]


@router.post("/v1/users/{user}/records", response_model=Stored)
@needs(Scope.INGEST)
async def store_records(request: Request, user: str, body: RecordsIn) -> Reply:
    """Store records of one user in one task; the same record again changes nothing."""
    service, tenant = service_of(request), request.state.key.tenant

    def work() -> dict[str, object]:
        task = service.machinery.tasks.named(body.task)
        owner = Owner(tenant, task.name, named(user))
        records = parsed(body.records, owner.user, task, service.config.limits, "records")
        store = service.door.open()
        embedder = RecordEmbedder(service.machinery.encoder.patient, task)
        memory = service.machinery.memories.of(tenant, owner.user)
        added = store.append(owner, records, embedder)
        try:
            service.machinery.selecting.prepare(memory, owner, task, records)
        except StoreError as error:  # the records are there; the first request prepares them
            log.warning("records are stored, but not prepared for decisions: %s", error)
        found = {"received": len(records), "added": added, "records": store.count(owner)}
        # A date that is misspelt would be no date, and nobody would notice.
        ignored = unread_fields_of(body.records, task)
        return found | ({"ignored_fields": ignored} if ignored else {})

    return Reply(await service.in_thread(work))


@router.get("/v1/users/{user}/records", response_model=RecordsPage)
@needs(Scope.READ)
async def list_records(
    request: Request, user: str, task: TaskName, after: After = None, limit: Limit = 100
) -> Reply:
    """Records in the order they were stored."""
    service, tenant = service_of(request), request.state.key.tenant

    def work() -> dict[str, object]:
        known = service.machinery.tasks.named(task)
        page = service.door.open().page(
            Owner(tenant, known.name, named(user)), after=after, limit=limit
        )
        return {
            "records": [record_line(record, known) for record in page.records],
            "next": page.cursor,
        }

    return Reply(await service.in_thread(work))


@router.delete("/v1/users/{user}/records/{record}", response_model=Erased)
@needs(Scope.INGEST)
async def delete_record(request: Request, user: str, record: str, task: TaskName) -> Reply:
    """Erase one record."""
    return await _deleted(request, user, task, [named(record)])


@router.post("/v1/users/{user}/records/delete", response_model=Erased)
@needs(Scope.INGEST)
async def delete_records(request: Request, user: str, body: IdsIn) -> Reply:
    """Erase many records."""
    return await _deleted(request, user, body.task, body.ids)


@router.delete("/v1/users/{user}", response_model=Erased)
@needs(Scope.ADMIN)
async def delete_user(request: Request, user: str) -> Reply:
    """Erase everything of a user, in all tasks."""
    service, tenant = service_of(request), request.state.key.tenant

    def work() -> dict[str, object]:
        store = service.door.open()
        return _erased(service, tenant, named(user), lambda: store.delete_user(tenant, named(user)))

    return Reply(await service.in_thread(work))


@router.get("/v1/users", response_model=UsersPage)
@needs(Scope.ADMIN)
async def list_users(request: Request, after: After = None, limit: Limit = 100) -> Reply:
    """Who has records, one line for each task."""
    service, tenant = service_of(request), request.state.key.tenant

    def work() -> dict[str, object]:
        page = service.door.open().owners(tenant, after=after, limit=limit)
        lines = [
            {"user": one.owner.user, "task": one.owner.task, "records": one.records}
            for one in page.owners
        ]
        return {"users": lines, "next": page.cursor}

    return Reply(await service.in_thread(work))


@router.post("/v1/users/{user}/reembed", response_model=Reembedded)
@needs(Scope.ADMIN)
async def reembed(request: Request, user: str, task: TaskName) -> Reply:
    """Compute a user's embeddings anew, after the service got another encoder."""
    service, tenant = service_of(request), request.state.key.tenant

    def work() -> dict[str, object]:
        known = service.machinery.tasks.named(task)
        embedder = RecordEmbedder(service.machinery.encoder.patient, known)
        owner = Owner(tenant, known.name, named(user))
        memory = service.machinery.memories.of(tenant, owner.user)
        computed = service.door.open().reembed(owner, embedder)
        service.machinery.selecting.prepare(memory, owner, known, ())
        return {"computed": computed}

    return Reply(await service.in_thread(work))


async def _deleted(request: Request, user: str, task: str, ids: list[str]) -> Reply:
    service, tenant = service_of(request), request.state.key.tenant

    def work() -> dict[str, object]:
        owner = Owner(tenant, service.machinery.tasks.named(task).name, named(user))
        store = service.door.open()
        return _erased(service, tenant, owner.user, lambda: store.delete(owner, ids))

    return Reply(await service.in_thread(work))


def _erased(
    service: Service, tenant: str, user: str, delete: Callable[[], int]
) -> dict[str, object]:
    try:
        deleted = delete()
    finally:  # it may be done, and only the tidying of files behind it not
        service.machinery.selecting.forget(tenant, user)
    # Of a file, the bytes are gone with the deletion. On a server the tables would have to be
    # written anew, with everybody locked out: `enough scrub` does that, in a quiet hour.
    return {"deleted": deleted, "scrubbed": not service.config.store.is_postgresql}
