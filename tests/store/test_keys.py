"""API keys: nothing but digests is kept, and a revoked key opens nothing, at once, everywhere."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from enough.errors import AccessError, DataError
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.sql_store import SqlStore
from enough.store.values import Scope
from tests.store.conftest import OpenStore


def test_a_key_opens_what_it_was_made_for(store: SqlStore) -> None:
    made = store.keys.create("shop", [Scope.READ, Scope.SELECT])
    assert made.secret.startswith(f"{made.key.id}.")
    found = store.keys.check(made.secret)
    assert found == made.key
    assert (found.tenant, found.scopes) == ("shop", frozenset({Scope.READ, Scope.SELECT}))
    assert abs(found.created - datetime.now(UTC)) < timedelta(minutes=1)
    assert found.revoked is None
    assert made.secret not in repr(made)


def test_what_is_not_a_key_opens_nothing(store: SqlStore) -> None:
    made, other = (store.keys.create(tenant, [Scope.ADMIN]) for tenant in ("shop", "elsewhere"))
    secret = made.secret.partition(".")[2]
    for wrong in (
        "",
        ".",
        made.key.id,
        f"{made.key.id}.",
        f"{made.secret}x",
        made.secret[:-1],
        f"{other.key.id}.{secret}",
        made.secret.upper(),
        "\x00\ud800" * 1000,
    ):
        with pytest.raises(AccessError, match="unknown or revoked") as caught:
            store.keys.check(wrong)
        assert secret not in str(caught.value)


def test_revoking(opened: OpenStore) -> None:
    one, other = opened(), opened()
    made, kept = (one.keys.create("shop", [Scope.READ]) for _ in range(2))
    other.keys.check(made.secret)
    assert not one.keys.revoke("elsewhere", made.key.id)  # not their key
    assert other.keys.check(made.secret) == made.key
    assert one.keys.revoke("shop", made.key.id)
    assert not one.keys.revoke("shop", made.key.id)
    with pytest.raises(AccessError):
        other.keys.check(made.secret)
    assert other.keys.check(kept.secret) == kept.key
    listed = one.keys.keys("shop")
    assert {key.id: key.revoked is None for key in listed} == {
        made.key.id: False,
        kept.key.id: True,
    }
    assert one.keys.keys("elsewhere") == ()


def test_keys_need_a_tenant_and_a_scope(store: SqlStore) -> None:
    with pytest.raises(DataError):
        store.keys.create("", [Scope.READ])
    with pytest.raises(DataError):
        store.keys.create("shop", [])


def test_no_secret_is_in_the_file(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path)))
    made = store.keys.create("shop", [Scope.READ])
    store.close()
    content = b"".join(path.read_bytes() for path in sqlite_path.parent.iterdir())
    assert made.key.id.encode() in content
    assert made.secret.partition(".")[2].encode() not in content


def test_a_check_is_a_question_to_the_database_and_no_slow_hash(store: SqlStore) -> None:
    """About 0.3 ms on SQLite and 1 ms on PostgreSQL; a hash made for passwords takes a hundred."""
    secret = store.keys.create("shop", [Scope.READ]).secret
    fastest = min(_seconds(store, secret) for _ in range(5))
    assert fastest < 0.01


def _seconds(store: SqlStore, secret: str) -> float:
    started = time.perf_counter()
    for _ in range(50):
        store.keys.check(secret)
    return (time.perf_counter() - started) / 50


def test_nobody_else_on_the_machine_reads_the_file(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path)))
    store.keys.create("shop", [Scope.READ])
    for path in sqlite_path.parent.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    store.close()
