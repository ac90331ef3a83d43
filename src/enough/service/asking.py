"""From a client's body to a question, and from a selection to its answer.

In: a `SelectIn`, a tenant. Out: an `Asked`; a `Selected` as the dictionary clients get.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from enough.data.parsing import Place, date_field
from enough.errors import DataError
from enough.online.selected import Selected
from enough.records import Request
from enough.service.bodies import SelectIn
from enough.service.record_lists import parsed
from enough.service.selecting import Asked
from enough.service.state import Service

ONLY_USER = "user"
"""Whose history is handed in without a name."""


def asked_by(service: Service, tenant: str, body: SelectIn) -> Asked:
    """The question; records that are handed in are parsed.

    Raises:
        DataError: if neither a user nor a history is named, or a field is wrong.
        UnknownNameError: if there is no such task.
    """
    if body.user is None and body.history is None:
        raise DataError("name a user of the store, or hand in a history", field="user")
    task = service.machinery.tasks.named(body.task)
    user = body.user or ONLY_USER
    date, moment = date_field({"date": body.date}, "date", Place(Path("body")))
    request = Request(body.id, user, task, body.input, date, moment, body.source_id)
    history = None
    if body.history is not None:
        history = tuple(parsed(body.history, user, task, service.config.limits, "history"))
    return Asked(tenant, request, history, body.policy, body.lambda_, body.explain)


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
