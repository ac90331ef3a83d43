"""Bodies of requests and answers, typed; what OpenAPI says of them comes from here.

Records are plain objects with the fields of their task, as the lines of a log have them, so their
inside is checked by the same parser as a log's.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from enough.service.paths import LONGEST_NAME
from enough.store.values import Scope

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Raw = dict[str, Any]


class Body(BaseModel):
    """Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


class ErrorInside(BaseModel):
    """What went wrong."""

    type: str
    message: str
    field: str | None = None


class ErrorBody(BaseModel):
    """The one shape of all errors."""

    error: ErrorInside


class RecordsIn(Body):
    """Records to be stored."""

    task: Name
    records: list[Raw] = Field(
        description='As in a log: {"id", "date"?, "source_id"?, <the fields of the task>}.'
    )


class Stored(BaseModel):
    """What became of them."""

    received: int
    added: int = Field(description="Those that were not there yet.")
    records: int = Field(description="How many the user has now in this task.")
    ignored_fields: list[str] = Field([], description="Of these records; only where there are any.")


class RecordsPage(BaseModel):
    """Some of a user's records, in the order they were stored."""

    records: list[Raw]
    next: str | None = Field(description="For `after`; null on the last page.")


class IdsIn(Body):
    """Records to be erased."""

    task: Name
    ids: list[str]


class Erased(BaseModel):
    """How many were there, and whether their bytes have left the database's files."""

    deleted: int
    scrubbed: bool


class UserLine(BaseModel):
    """One user in one task."""

    user: str
    task: str
    records: int


class UsersPage(BaseModel):
    """Some of a tenant's users, longest known first."""

    users: list[UserLine]
    next: str | None


class Reembedded(BaseModel):
    """How many embeddings were computed anew."""

    computed: int


class KeyIn(Body):
    """A key to be made, for the tenant of the key that asks."""

    scopes: list[Scope] = Field(min_length=1)


class KeyLine(BaseModel):
    """A key without its secret."""

    id: str
    tenant: str
    scopes: list[Scope]
    created: str
    revoked: str | None


class KeyMade(KeyLine):
    """A new key; the secret is shown here and never again."""

    secret: str


class KeysList(BaseModel):
    """All keys of the tenant, revoked ones too."""

    keys: list[KeyLine]


class Revoked(BaseModel):
    """Whether the key was good until now."""

    revoked: bool


class SelectIn(Body):
    """One request for a selection.

    `history` in place of the store's records; with it, `user` may be left out.
    """

    task: Name
    input: str = Field(min_length=1)
    user: Name | None = None
    history: list[Raw] | None = None
    date: str | int | float | None = None
    source_id: str | None = None
    id: Name = "request"
    explain: bool = True
    policy: Literal["controller", "untrained"] | None = None
    lambda_: float | None = Field(default=None, alias="lambda", ge=0, allow_inf_nan=False)


class LambdaUsed(BaseModel):
    """Another λ than the controller was trained for only weighs its heads anew."""

    asked: float
    trained: float
    approximate: bool


class SelectedBody(BaseModel):
    """A profile; `trace` and `left_out` are empty without `explain`."""

    task: str
    request: str
    user: str
    policy: Literal["controller", "untrained"]
    reason: str
    tokens: int
    prompt_tokens: int
    tokens_saved: int
    records: list[Raw]
    left_out: list[Raw]
    trace: list[Raw]
    messages: list[dict[str, str]]
    prompt: str
    trained_on_task: bool = Field(description="False where the controller only guesses.")
    lambda_: LambdaUsed | None = Field(default=None, alias="lambda")


class AnswerIn(SelectIn):
    """The same, and an answer."""

    max_tokens: int | None = Field(default=None, ge=1, le=4096)


class AnswerBody(BaseModel):
    """An answer, and the profile it was given."""

    text: str
    model: str
    task: str
    user: str
    policy: Literal["controller", "untrained"]
    reason: str
    records: list[Raw]
    tokens: int
    prompt_tokens: int
    tokens_saved: int


class ChatOptions(Body):
    """What `enough` should do with a chat."""

    task: Name | None = None
    off: bool = False
    records: list[Raw] | None = Field(
        default=None, description="A history in place of the store's records."
    )
    date: str | int | float | None = None
    source_id: str | None = None
    policy: Literal["controller", "untrained"] | None = None


class ChatIn(BaseModel):
    """A chat completion as OpenAI has it; fields that are not named here go on as they are."""

    model_config = ConfigDict(extra="allow")

    messages: list[Raw] = Field(min_length=1)
    model: str | None = Field(default=None, description="Ignored: one model answers here.")
    stream: bool = False
    user: Name | None = Field(default=None, description="The user whose records are stored.")
    enough: ChatOptions | None = None


class ChatBody(BaseModel):
    """A completion; `usage.enough` has profile_tokens, tokens_saved, records and reason."""

    model_config = ConfigDict(extra="allow")

    choices: list[Raw]
    usage: Raw | None = None


class ModelLine(BaseModel):
    """A model."""

    id: str
    object: str
    created: int
    owned_by: str


class ModelsList(BaseModel):
    """The models that can be asked."""

    object: str
    data: list[ModelLine]


class Health(BaseModel):
    """Whether the service can work."""

    status: Literal["ok", "unavailable"]
    store: bool | None = None
    models: bool | None = None
