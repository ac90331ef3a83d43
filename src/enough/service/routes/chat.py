"""OpenAI's chat completions in front of the configured model, with a profile put in.

The store's user is the `user` field; the task and more are in the extra field `enough`, or in the
headers X-Enough-Task and X-Enough-Off. The last message of the user is the query. Chats without a
user, a task or records, and those with `off`, go on as they came.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from enough.errors import BudgetError, DataError
from enough.online.selected import Selected
from enough.service.asking import select_for
from enough.service.bodies import ChatBody, ChatIn, ChatOptions, ModelsList, SelectIn
from enough.service.chat import last_of_user, text_of_message
from enough.service.chat_events import as_events, with_usage
from enough.service.guard import GuardedRoute, needs
from enough.service.replies import Reply
from enough.service.state import Service, service_of
from enough.service.streams import Streamed
from enough.store.values import Scope

router = APIRouter(route_class=GuardedRoute, tags=["chat"])
_EVENTS: dict[str, Any] = {"content": {"text/event-stream": {}}}
_MOST_TOKENS = 256  # of a local answer whose client names no limit


@router.get("/v1/models", response_model=ModelsList)
@needs(Scope.SELECT)
async def models(request: Request) -> Reply:
    """The one model that answers here."""
    service = service_of(request)
    line = {"id": service.model, "object": "model", "created": 0, "owned_by": "enough"}
    return Reply({"object": "list", "data": [line]})


@router.post("/v1/chat/completions", response_model=ChatBody, responses={200: _EVENTS})
@needs(Scope.SELECT)
async def chat(request: Request, body: ChatIn) -> Response:
    """A chat completion whose last user message has the user's profile in front of it."""
    service, times = service_of(request), request.state.times
    patience_s = service.config.limits.timeout_s
    sent = body.model_dump(exclude_unset=True, exclude={"enough"})
    enough: dict[str, Any] | None = None
    headers: dict[str, str] = {}
    try:
        selected = await _selected(request, body)
    except BudgetError:  # the upstream may see further than the window tokens are counted for
        selected, enough = None, _taken(0, 0, [], "the message does not fit the window")
    if selected is not None:
        ids = [record.id for record in selected.records]
        enough = _taken(selected.tokens, selected.tokens_saved, ids, selected.reason)
        headers = {"X-Enough-Profile-Tokens": str(selected.tokens)}
        sent["messages"] = service.machinery.section.added(
            body.messages, selected.request.task, selected.records
        )
    sent["model"] = service.model
    if service.upstream is not None and body.stream:
        lines = await service.upstream.stream(sent)
        return Streamed(with_usage(lines, enough), headers, patience_s, lines.close)
    with times.stage("generate"):
        if service.upstream is not None:
            answer = await service.upstream.complete(sent)
        else:
            answer = await _local(service, sent)
    if enough is not None:
        usage = answer.get("usage")
        answer["usage"] = (usage if isinstance(usage, dict) else {}) | {"enough": enough}
    if body.stream:
        options = sent.get("stream_options")
        wanted = isinstance(options, dict) and options.get("include_usage") is True
        return Streamed(as_events(answer, usage=wanted), headers, patience_s)
    return Reply(answer, headers=headers)


def _taken(tokens: int, saved: int, records: list[str], reason: str) -> dict[str, Any]:
    """What stands beside the usage."""
    return {"profile_tokens": tokens, "tokens_saved": saved, "records": records, "reason": reason}


async def _selected(request: Request, body: ChatIn) -> Selected | None:
    """The profile; None where the chat is to stay as it is."""
    service, tenant, times = service_of(request), request.state.key.tenant, request.state.times
    options = body.enough or ChatOptions()
    is_off = options.off or request.headers.get("x-enough-off", "").lower() in ("1", "true")
    task = options.task or request.headers.get("x-enough-task") or service.config.proxy_task
    place = last_of_user(body.messages)
    if is_off or not task or place is None or (body.user is None and options.records is None):
        return None
    text = text_of_message(body.messages[place])
    if not text:
        return None
    if len(text) > service.config.limits.text_chars:
        raise BudgetError("the message is longer than a text may be")
    # Not validated again: a message may hold half a character, which stays one.
    question = SelectIn.model_construct(
        task=task,
        input=text,
        user=body.user,
        history=options.records,
        date=options.date,
        source_id=options.source_id,
        policy=options.policy,
        explain=False,
    )
    return await select_for(service, tenant, question, times, lambda _, found: found)


async def _local(service: Service, sent: dict[str, Any]) -> dict[str, Any]:
    """The local generator's answer in the form of a completion."""
    if sent.get("n") not in (None, 1):
        raise DataError("the local model writes one answer: n must be 1", field="n")
    given = sent.get("max_completion_tokens") or sent.get("max_tokens") or _MOST_TOKENS
    if not isinstance(given, int) or given < 1:
        raise DataError("max_tokens must be a number from 1 on", field="max_tokens")
    turns = [(str(one.get("role")), text_of_message(one)) for one in sent["messages"]]
    written = await service.written(lambda writer: writer.chat(turns, given))
    is_cut = written.answer_tokens >= given
    message = {"role": "assistant", "content": written.text}
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": service.model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": "length" if is_cut else "stop"}
        ],
        "usage": {
            "prompt_tokens": written.prompt_tokens,
            "completion_tokens": written.answer_tokens,
            "total_tokens": written.prompt_tokens + written.answer_tokens,
        },
    }
