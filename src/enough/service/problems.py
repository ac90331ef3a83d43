"""Every error as the one shape clients see: {"error": {"type", "message", "field"?}}.

In: an exception. Out: a `ProblemError`: status, type and a message that says what to do. Nothing of
where the database is and no traceback gets out.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from typing import Any

from enough.errors import (
    AccessError,
    BudgetError,
    ConfigError,
    DataError,
    EncoderChangedError,
    EnoughError,
    MissingExtraError,
    RecordConflictError,
    StoreBusyError,
    StoreFormatError,
    StoreFullError,
    StoreUnavailableError,
    UnknownNameError,
)

log = logging.getLogger("enough.service")


class ProblemError(Exception):
    """An answer that is an error."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.message = status, kind, message
        self.field, self.headers = field, dict(headers or {})

    def body(self) -> dict[str, Any]:
        """As JSON has it."""
        error = {"type": self.kind, "message": self.message}
        return {"error": error | ({} if self.field is None else {"field": self.field})}


SOON = {"Retry-After": "1"}
_STORE: dict[type[EnoughError], tuple[int, str, str]] = {
    StoreBusyError: (503, "store_busy", "the store is busy; try again"),
    StoreFullError: (507, "store_full", "the store has no space left; tell its operator"),
    StoreUnavailableError: (503, "store_unavailable", "the store is away; try again"),
    StoreFormatError: (500, "store_damaged", "the store cannot be read; tell its operator"),
}
_REQUEST: dict[type[EnoughError], tuple[int, str]] = {
    RecordConflictError: (409, "conflict"),
    EncoderChangedError: (409, "encoder_changed"),
    UnknownNameError: (422, "unknown_name"),
    BudgetError: (422, "too_long"),
    DataError: (422, "invalid_request"),
    ConfigError: (422, "invalid_request"),
    MissingExtraError: (501, "not_installed"),
}


def problem_of(error: Exception) -> ProblemError:
    """What a client is told of any exception."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, AccessError):
        return unauthorized(str(error))
    for kind, (status, name, message) in _STORE.items():
        if isinstance(error, kind):
            # Where the database is, is for the operator's eyes.
            log.warning("store: %s", error)
            return ProblemError(status, name, message, headers=SOON if status == 503 else None)
    for known, (status, name) in _REQUEST.items():
        if isinstance(error, known):
            return ProblemError(status, name, str(error), field=getattr(error, "field", None))
    log.error("%s", described(error))
    return ProblemError(500, "internal", "something went wrong here; the log has the place")


def unauthorized(message: str) -> ProblemError:
    """No key, or one that opens nothing."""
    return ProblemError(401, "unauthorized", message, headers={"WWW-Authenticate": "Bearer"})


def described(error: BaseException) -> str:
    """What may stand in a log: kind and place. A message can hold a user's text."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{at}"
