"""What goes into a store and comes out of it: owners, pages, vectors, API keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from enough.errors import DataError
from enough.protocols import Floats
from enough.records import History


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose records: one user of one tenant, in one task.

    Attributes:
        tenant: the app; nothing is ever shared between tenants.
        task: the task's name.
        user: as the records name their owner.
    """

    tenant: str
    task: str
    user: str

    def __post_init__(self) -> None:
        for name in ("tenant", "task", "user"):
            if not getattr(self, name):
                raise DataError("must not be empty", field=name)


@dataclass(frozen=True, slots=True)
class Page:
    """Some records in the order they were appended, and where the next page begins.

    Attributes:
        records: at most as many as were asked for.
        cursor: for the next page; None after the last record. It stays good while records come
            and go.
    """

    records: History
    cursor: str | None


@dataclass(frozen=True, slots=True)
class OwnerSummary:
    """One line of a tenant's list.

    Attributes:
        owner: who.
        records: how many.
        fingerprint: of the encoder their vectors are from.
    """

    owner: Owner
    records: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class OwnerPage:
    """Some of a tenant's owners, longest known first, and where the next page begins."""

    owners: tuple[OwnerSummary, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True, eq=False)
class StoredVectors:
    """The embeddings of all records of an owner, in the order of its pages.

    Attributes:
        ids: of the records, n of them.
        matrix: [n, dim].
    """

    ids: tuple[str, ...]
    matrix: Floats


class Scope(StrEnum):
    """What a key may do. None implies another."""

    INGEST = "ingest"
    READ = "read"
    SELECT = "select"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key; its secret is not.

    Attributes:
        id: public; the part of the secret before the dot.
        tenant: the only one whose records it reaches.
        scopes: what it may do.
        created: when it was made, in UTC.
        revoked: since when it opens nothing; None while it is good.
    """

    id: str
    tenant: str
    scopes: frozenset[Scope]
    created: datetime
    revoked: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made. The secret is shown here and never again."""

    key: ApiKey
    secret: str = field(repr=False)
