"""From a client's body to a question, to a selection, and to its answer.

In: a `SelectIn`, a tenant. Out: an `Asked`; what is made of its `Selected`, computed where it costs
least; a `Selected` as the dictionary clients get.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from enough.data.parsing import Place, date_field
from enough.errors import DataError
from enough.online.selected import Selected
from enough.protocols import Floats
from enough.records import Request
from enough.service.bodies import SelectIn
from enough.service.inbox import Promise
from enough.service.measures import StageTimes
from enough.service.record_lists import parsed
from enough.service.selecting import Asked
from enough.service.state import Service

Result = TypeVar("Result")
ONLY_USER = "user"
"""Whose history is handed in without a name."""
_BODY = Place(Path("body"))
_SHORT = 20_000  # characters of an input that the event loop looks at itself


def asked_by(service: Service, tenant: str, body: SelectIn) -> Asked:
    """The question; records that are handed in are parsed.

    Raises:
        DataError: if neither a user nor a history is named, or a field is wrong.
        UnknownNameError: if there is no such task.
    """
    if body.user is None and body.history is None:
        raise DataError("name a user of the store, or hand in a history", field="user")
    most = service.config.limits.text_chars
    if len(body.input) > most:
        raise DataError(f"{len(body.input)} characters; send at most {most}", field="input")
    task = service.machinery.tasks.named(body.task)
    user = body.user or ONLY_USER
    date, moment = date_field({"date": body.date}, "date", _BODY)
    request = Request(body.id, user, task, body.input, date, moment, body.source_id)
    history = None
    if body.history is not None:
        history = tuple(parsed(body.history, user, task, service.config.limits, "history"))
    return Asked(tenant, request, history, body.policy, body.lambda_, body.explain)


async def select_for(
    service: Service,
    tenant: str,
    body: SelectIn,
    times: StageTimes,
    then: Callable[[Asked, Selected], Result],
) -> Result:
    """Select, count it, and make something of it, in one thread.

    In the encoder's, where encodings take the same cores and nothing has to be waited for; else,
    and with a history to be parsed and embedded, in one of the many.
    """
    machinery = service.machinery
    selecting, encoder = machinery.selecting, machinery.encoder

    def counted(asked: Asked, selected: Selected) -> Result:
        service.measures.selection(selected)
        return then(asked, selected)

    is_short = body.history is None and len(body.input) <= _SHORT
    if not (is_short and encoder.is_on_cores and service.door.is_local):

        def work() -> Result:
            asked = asked_by(service, tenant, body)
            return counted(asked, selecting.select(asked, times))

        return await service.in_thread(work)
    asked = selecting.checked(asked_by(service, tenant, body))
    began = time.perf_counter()

    def rest(vector: Floats) -> Result:
        times.add("encode", since=began)
        return counted(asked, selecting.decided(asked, vector, times)[0])

    with machinery.prompter.expecting(asked.request):
        promise: Promise[Result] = service.inbox.promise()
        encoder.follow_into(promise, asked.request.query, "query", rest)
        return await service.kept(promise)


def selection_body(service: Service, asked: Asked, selected: Selected) -> dict[str, Any]:
    """What a client gets."""
    selecting = service.machinery.selecting
    body = selected.as_dict()
    body["trained_on_task"] = selected.policy == "controller" and selecting.is_trained_on(
        asked.request.task.name
    )
    body["lambda"] = None
    if asked.lambda_ is not None:
        assert selecting.trained is not None  # nobody else is asked for a λ
        trained = selecting.trained.trained_for
        is_other = asked.lambda_ != trained
        body["lambda"] = {"asked": asked.lambda_, "trained": trained, "approximate": is_other}
    return body
