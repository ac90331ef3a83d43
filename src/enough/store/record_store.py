"""What the service asks of a store, as protocols; `sql_store` and `sql_keys` keep them.

Every method names the owner or the tenant it works for and reaches nothing else. All of them are
safe to call from several threads, and from several processes on one database.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from enough.protocols import Floats
from enough.records import History, Pool, Record
from enough.store.values import ApiKey, NewKey, Owner, OwnerPage, Page, Scope, StoredVectors


class Embedder(Protocol):
    """Records to vectors; `enough.store.embedding.RecordEmbedder` is the usual one."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever a vector could change."""
        ...

    def embed(self, records: Sequence[Record]) -> Floats:
        """Vectors [len(records), dim]."""
        ...


class RecordStore(Protocol):
    """Records of many users, with the vectors they are searched by."""

    def append(self, owner: Owner, records: Sequence[Record], embedder: Embedder) -> int:
        """Add records after those that are there; how many were new. On return they are on disk.

        The same record again is neither an error nor stored twice, and is not embedded again. More
        than a thousand are committed in parts, so that nobody waits long; after an error call it
        again.

        Raises:
            RecordConflictError: if a known id comes with another record.
            EncoderChangedError: if the owner's vectors are from another encoder.
            DataError: if a record is another user's.
        """
        ...

    def page(self, owner: Owner, *, after: str | None = None, limit: int = 100) -> Page:
        """Records in the order they were appended, from a cursor on."""
        ...

    def read(self, owner: Owner, ids: Collection[str]) -> History:
        """The records with these ids, as far as they are there, in the order of appending."""
        ...

    def about(self, owner: Owner, item: str) -> History:
        """The records whose id or source item this is: what the first leakage rule looks for."""
        ...

    def count(self, owner: Owner) -> int:
        """How many records the owner has."""
        ...

    def owners(self, tenant: str, *, after: str | None = None, limit: int = 100) -> OwnerPage:
        """Who has records with this tenant."""
        ...

    def vectors(self, owner: Owner, fingerprint: str) -> StoredVectors:
        """All vectors of an owner; raises EncoderChangedError if they are another encoder's."""
        ...

    def nearest(
        self, owner: Owner, query: Floats, fingerprint: str, limit: int, *, skip: int = 0
    ) -> Pool:
        """The records nearest to a query vector [dim], best first, ties in order of appending.

        Scores and order are those of `DenseRetriever`, to the last bit. With `skip`, the best ones
        are left out, for those who go on because some of them were not legal.
        """
        ...

    def reembed(self, owner: Owner, embedder: Embedder) -> int:
        """Replace all vectors by those of another encoder; how many were computed.

        Until it is done the old ones are served. What a kill interrupts is taken up by calling it
        again.
        """
        ...

    def embed_beside(self, owner: Owner, embedder: Embedder) -> int:
        """Further vectors of all records, under another fingerprint; how many were computed.

        Vectors that are there are not computed again. They go with their records; deleting one
        record, or `reembed`, can take others' along, so call it again from time to time.
        """
        ...

    def beside(
        self, owner: Owner, fingerprint: str, ids: Collection[str]
    ) -> list[tuple[Record, Floats]]:
        """These records with their further vectors, as far as those are there."""
        ...

    def delete(self, owner: Owner, ids: Collection[str]) -> int:
        """Erase records and their vectors; how many were there."""
        ...

    def delete_owner(self, owner: Owner) -> int:
        """Erase everything of a user in one task; how many records there were."""
        ...

    def delete_user(self, tenant: str, user: str) -> int:
        """Erase everything of a user in all tasks; how many records there were."""
        ...

    def scrub(self) -> None:
        """Leave no byte of anything deleted in the database's files; `enough.store.erasing`."""
        ...

    def close(self) -> None:
        """Let go of all connections."""
        ...


class KeyStore(Protocol):
    """API keys of tenants. Only digests of secrets are kept."""

    def create(self, tenant: str, scopes: Collection[Scope]) -> NewKey:
        """Make a key; its secret is in the answer and nowhere else."""
        ...

    def check(self, secret: str) -> ApiKey:
        """The key of a secret; raises AccessError if it is unknown or revoked."""
        ...

    def revoke(self, tenant: str, key_id: str) -> bool:
        """From now on the key opens nothing, in any process; whether it was good until now."""
        ...

    def is_any(self) -> bool:
        """Whether any tenant has a key that is good."""
        ...

    def keys(self, tenant: str) -> tuple[ApiKey, ...]:
        """All keys of a tenant, revoked ones too, oldest first."""
        ...
