"""The page, its files, what it needs to know of the service, and its selections.

In: what is typed into the page. Out: the page; facts; a selection with everything behind it. The
two that answer questions are the page's own and may change with it, so OpenAPI does not list them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from enough.records import Request as Question
from enough.service.asking import asked_by, selection_body
from enough.service.bodies import SelectIn
from enough.service.guard import GuardedRoute, needs
from enough.service.inspector.insight import insight
from enough.service.inspector.pages import Pages
from enough.service.problems import ProblemError
from enough.service.replies import Reply
from enough.service.state import Service, service_of
from enough.store.values import Owner, Scope

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
_pages = cache(Pages)


@router.get("/inspector")
@needs(None)
async def page(request: Request) -> Response:
    """The page; there is nothing of anybody in it."""
    return _pages().page(is_open=service_of(request).config.open)


@router.get("/inspector/files/{name}")
@needs(None)
async def file(name: str) -> Response:
    """One of the page's files."""
    if (found := _pages().file(name)) is None:
        raise ProblemError(404, "not_found", "the inspector has no such file")
    return found


@router.get("/inspector/facts")
@needs(Scope.SELECT)
async def facts(request: Request) -> Reply:
    """What can be asked here, and what the key may do."""
    service, key = service_of(request), request.state.key
    selecting, tasks = service.machinery.selecting, service.machinery.tasks
    trained = selecting.trained
    has_lambda = trained is not None and not trained.model.config.single_head
    return Reply(
        {
            "scopes": sorted(scope.value for scope in key.scopes),
            "policies": ["untrained"] if trained is None else ["controller", "untrained"],
            "lambda": selecting.lambda_ if has_lambda else None,
            "records_at_once": service.config.limits.records_per_batch,
            "tasks": [
                {
                    "name": task.name,
                    "description": task.description,
                    "context": task.context_field,
                    "action": task.action_field,
                    "metadata": list(task.metadata_fields),
                    "is_trained": selecting.is_trained_on(task.name),
                }
                for task in tasks.all()
            ],
        }
    )


@router.post("/inspector/select")
@needs(Scope.SELECT)
async def select(request: Request, body: SelectIn) -> Reply:
    """A selection and all that is behind it; of stored users only for a key that may read."""
    service, key, times = service_of(request), request.state.key, request.state.times
    if body.history is None:
        service.gate.require(key, Scope.READ)  # texts of records that were not selected

    def work() -> Reply:
        asked = asked_by(service, key.tenant, body.model_copy(update={"explain": True}))
        selecting = service.machinery.selecting
        selected, walked = selecting.look(asked, times)
        service.measures.selection(selected)
        count = _count(service, key.tenant, asked.request, body)
        found = selection_body(service, asked, selected)
        return Reply(found | insight(selecting, asked, selected, walked) | {"history": count})

    return await service.in_thread(work)


def _count(service: Service, tenant: str, question: Question, body: SelectIn) -> dict[str, Any]:
    """How many records there are, also those that were never looked at."""
    if body.history is not None:
        return {"from": "request", "records": len(body.history)}
    owner = Owner(tenant, question.task.name, question.user)
    return {"from": "store", "records": service.door.open().count(owner)}
