"""Selections, and answers with a profile."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from enough.online.selected import Selected
from enough.service.asking import select_for, selection_body
from enough.service.bodies import AnswerBody, AnswerIn, SelectedBody, SelectIn
from enough.service.guard import GuardedRoute, needs
from enough.service.replies import Reply
from enough.service.selecting import Asked
from enough.service.state import Service, service_of
from enough.service.upstream import text_of
from enough.store.values import Scope

router = APIRouter(route_class=GuardedRoute, tags=["select"])


@router.post("/v1/select", response_model=SelectedBody)
@needs(Scope.SELECT)
async def select(request: Request, body: SelectIn) -> Reply:
    """The records a request is better off with, in the order of the prompt, and why."""
    service, tenant, times = service_of(request), request.state.key.tenant, request.state.times

    def reply(asked: Asked, selected: Selected) -> Reply:
        return Reply(selection_body(service, asked, selected))

    return await select_for(service, tenant, body, times, reply)


@router.post("/v1/answer", response_model=AnswerBody)
@needs(Scope.SELECT)
async def answer(request: Request, body: AnswerIn) -> Reply:
    """The same, then exactly one call of the model."""
    service, tenant, times = service_of(request), request.state.key.tenant, request.state.times
    question = body.model_copy(update={"explain": False})
    selected = await select_for(service, tenant, question, times, lambda _, found: found)
    with times.stage("generate"):
        most = body.max_tokens or selected.request.task.max_answer_tokens
        text, model = await _written(service, selected, most)
    return Reply({"text": text, "model": model} | _profile(selected))


async def _written(service: Service, selected: Selected, most: int) -> tuple[str, str]:
    upstream = service.upstream
    if upstream is not None:
        asked = {"messages": selected.messages, "max_tokens": most, "temperature": 0}
        answer = await upstream.complete({"model": upstream.model, **asked})
        return text_of(answer), upstream.model
    tokens = service.machinery.tokenizer.encode(selected.prompt)
    written = await service.written(lambda writer: writer.write(tokens, most))
    return written.text, service.model


def _profile(selected: Selected) -> dict[str, Any]:
    whole = selected.as_dict()
    kept = ("task", "user", "policy", "reason", "records", "tokens", "prompt_tokens")
    return {name: whole[name] for name in kept} | {"tokens_saved": selected.tokens_saved}
