"""API keys in the store's database: made, checked, revoked.

In: secrets. Out: the keys they stand for. A secret is 256 random bits, so nobody finds one by
trying, however fast the digest is: a slow one would only slow us down. What it must withstand is
somebody who reads the database, and any one-way function does that for a random secret. A check is
one look-up by the key's public id; nothing is remembered, so a revoked key is refused by every
process from the next request on.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, insert, select, update

from enough.errors import AccessError, DataError
from enough.store.database import Database
from enough.store.tables import api_key
from enough.store.values import ApiKey, NewKey, Scope

_PREFIX = "enough-"
_COLUMNS = (api_key.c.id, api_key.c.tenant, api_key.c.scopes, api_key.c.created, api_key.c.revoked)


class SqlKeys:
    """The `KeyStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, tenant: str, scopes: Collection[Scope]) -> NewKey:
        """Make a key; its secret is in the answer and nowhere else."""
        if not tenant or not scopes:
            raise DataError("a key needs a tenant and at least one scope")
        identity = f"{_PREFIX}{secrets.token_hex(8)}"
        secret = f"{identity}.{secrets.token_urlsafe(32)}"
        key = ApiKey(identity, tenant, frozenset(map(Scope, scopes)), datetime.now(UTC))
        with self._database.writing() as connection:
            connection.execute(
                insert(api_key).values(
                    id=key.id,
                    tenant=key.tenant,
                    secret_digest=_digest(secret),
                    scopes=",".join(sorted(key.scopes)),
                    created=key.created,
                )
            )
        return NewKey(key, secret)

    def check(self, secret: str) -> ApiKey:
        """The key of a secret; raises AccessError if it is unknown or revoked."""
        with self._database.reading() as connection:
            row = connection.execute(
                select(*_COLUMNS, api_key.c.secret_digest).where(
                    api_key.c.id == secret.partition(".")[0][:64]
                )
            ).one_or_none()
        known = bytes(32) if row is None else row.secret_digest
        if not hmac.compare_digest(known, _digest(secret)) or row is None or row.revoked:
            raise AccessError("this API key is unknown or revoked; ask an admin for another")
        return _key(row)

    def revoke(self, tenant: str, key_id: str) -> bool:
        """From now on the key opens nothing, in any process; whether it was good until now."""
        c = api_key.c
        with self._database.writing() as connection:
            done = connection.execute(
                update(api_key)
                .where(c.id == key_id, c.tenant == tenant, c.revoked.is_(None))
                .values(revoked=datetime.now(UTC))
            )
            return bool(done.rowcount)

    def is_any(self) -> bool:
        """Whether any tenant has a key that is good."""
        with self._database.reading() as connection:
            found = connection.execute(
                select(api_key.c.id).where(api_key.c.revoked.is_(None)).limit(1)
            ).one_or_none()
        return found is not None

    def keys(self, tenant: str) -> tuple[ApiKey, ...]:
        """All keys of a tenant, revoked ones too, oldest first."""
        c = api_key.c
        with self._database.reading() as connection:
            rows = connection.execute(
                select(*_COLUMNS).where(c.tenant == tenant).order_by(c.created, c.id)
            ).all()
        return tuple(_key(row) for row in rows)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _key(row: Row[*tuple[Any, ...]]) -> ApiKey:
    scopes = frozenset(map(Scope, row.scopes.split(",")))
    revoked = None if row.revoked is None else _utc(row.revoked)
    return ApiKey(row.id, row.tenant, scopes, _utc(row.created), revoked)


def _utc(moment: datetime) -> datetime:
    """SQLite keeps no time zone; what we wrote was UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
