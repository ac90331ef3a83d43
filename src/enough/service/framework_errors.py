"""What the web framework complains about, in the one shape: bad JSON, wrong fields, no such route.

In: an exception of FastAPI or Starlette. Out: a `ProblemError`.
"""

from __future__ import annotations

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from enough.service.problems import ProblemError

FRAMEWORK_ERRORS = (RequestValidationError, HTTPException)
_NAMES = {
    400: ("bad_request", "the body cannot be read as JSON"),
    404: ("not_found", "there is nothing under this path"),
    405: ("method_not_allowed", "this path has other methods"),
}


def problem_of_framework(error: Exception) -> ProblemError:
    """The same as a problem."""
    if isinstance(error, RequestValidationError):
        return _wrong_fields(error)
    assert isinstance(error, HTTPException)
    kind, message = _NAMES.get(error.status_code, ("refused", "the request was refused"))
    return ProblemError(error.status_code, kind, message, headers=error.headers)


def _wrong_fields(error: RequestValidationError) -> ProblemError:
    first = error.errors()[0]
    place, *parts = [str(part) for part in first["loc"]]
    if first["type"] == "json_invalid":
        return ProblemError(400, "bad_request", f"the body is not JSON: {first['ctx']['error']}")
    if not parts and first["type"] == "model_attributes_type":
        return ProblemError(
            422,
            "invalid_request",
            "the body must be a JSON object, sent with the header Content-Type: application/json",
            field=place,
        )
    field = ".".join(parts) or place
    # Not pydantic's `input`: it is the client's text.
    return ProblemError(422, "invalid_request", f"{field}: {first['msg']}", field=field)
