"""Random tenants, users, tasks, records and operations: a store does what plain dicts would do.

Two stores on one database take turns, as two processes would, so what one remembers of a user must
not outlive what the other writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from enough.errors import EncoderChangedError, RecordConflictError
from enough.records import Record
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.sql_store import SqlStore
from enough.store.values import Owner
from tests.store.server import Server
from tests.store.things import embedder, everything, record

# The same names everywhere, and pairs that would run into each other if they were glued together.
OWNERS = [
    Owner(tenant, task, user)
    for tenant in ("a", "ab")
    for task in ("t", "bt")
    for user in ("u", "bu", "tu")
]
owners = st.sampled_from(OWNERS)
numbers = st.lists(st.integers(0, 150), min_size=1, max_size=90, unique=True)


class Model(RuleBasedStateMachine):
    """The plain-dict model beside the real thing."""

    def __init__(self, make: Callable[[], list[SqlStore]]) -> None:
        super().__init__()
        self.stores = make()
        self.kept: dict[Owner, dict[str, Record]] = {}
        self.encoders: dict[Owner, str] = {}

    def teardown(self) -> None:
        for store in self.stores:
            store.close()

    @rule(which=st.booleans(), owner=owners, new=numbers, action=st.sampled_from("xxxy"))
    def append(self, which: bool, owner: Owner, new: list[int], action: str) -> None:
        mine = self.kept.get(owner, {})
        given = [
            record(number, owner=owner.user, action=action, source_id=f"s{number % 7}")
            for number in new
        ]
        embedding = embedder(self.encoders.setdefault(owner, "first"))
        if any(mine.get(one.id, one) != one for one in given):
            with pytest.raises(RecordConflictError):
                self.stores[which].append(owner, given, embedding)
            return
        fresh = {one.id: one for one in given if one.id not in mine}
        assert self.stores[which].append(owner, given, embedding) == len(fresh)
        self.kept[owner] = mine | fresh

    @rule(which=st.booleans(), owner=owners, gone=numbers)
    def delete(self, which: bool, owner: Owner, gone: list[int]) -> None:
        mine = self.kept.get(owner, {})
        ids = [f"r{number}" for number in gone]
        there = [identity for identity in ids if identity in mine]
        assert self.stores[which].delete(owner, ids) == len(there)
        for identity in there:
            del mine[identity]
        if not mine:
            self._gone(owner)

    @rule(which=st.booleans(), owner=owners)
    def delete_owner(self, which: bool, owner: Owner) -> None:
        assert self.stores[which].delete_owner(owner) == len(self.kept.get(owner, {}))
        self._gone(owner)

    @rule(which=st.booleans(), owner=owners)
    def delete_user(self, which: bool, owner: Owner) -> None:
        same = [o for o in OWNERS if (o.tenant, o.user) == (owner.tenant, owner.user)]
        count = sum(len(self.kept.get(one, {})) for one in same)
        assert self.stores[which].delete_user(owner.tenant, owner.user) == count
        for one in same:
            self._gone(one)

    @rule(which=st.booleans(), owner=owners, name=st.sampled_from(["first", "second"]))
    def reembed(self, which: bool, owner: Owner, name: str) -> None:
        changes = owner in self.kept and self.encoders[owner] != name
        expected = len(self.kept[owner]) if changes else 0
        assert self.stores[which].reembed(owner, embedder(name)) == expected
        if owner in self.kept:
            self.encoders[owner] = name

    @rule(which=st.booleans(), owner=owners, item=st.integers(0, 8), limit=st.integers(1, 70))
    def look(self, which: bool, owner: Owner, item: int, limit: int) -> None:
        store, mine = self.stores[which], list(self.kept.get(owner, {}).values())
        assert everything(store, owner, limit) == mine
        about = tuple(one for one in mine if one.source_id == f"s{item}")
        assert store.about(owner, f"s{item}") == about
        assert store.read(owner, [f"r{item}"]) == tuple(r for r in mine if r.id == f"r{item}")

    @rule(which=st.booleans(), owner=owners)
    def vectors(self, which: bool, owner: Owner) -> None:
        mine = list(self.kept.get(owner, {}).values())
        name = self.encoders.get(owner, "first")
        found = self.stores[which].vectors(owner, embedder(name).fingerprint)
        assert found.ids == tuple(one.id for one in mine)
        if mine:
            assert (found.matrix == embedder(name).embed(mine)).all()
            with pytest.raises(EncoderChangedError):
                self.stores[which].vectors(owner, "third")

    @rule(which=st.booleans(), owner=owners, number=st.integers(0, 40))
    def nearest(self, which: bool, owner: Owner, number: int) -> None:
        mine = list(self.kept.get(owner, {}).values())
        embedding = embedder(self.encoders.get(owner, "first"))
        query = embedding.embed_query(f"w{number}")
        found = self.stores[which].nearest(owner, query, embedding.fingerprint, 10)
        scores = embedding.embed(mine) @ query if mine else np.zeros(0)
        order = np.argsort(-scores, kind="stable")[:10]
        assert [one.record for one in found] == [mine[i] for i in order]

    @invariant()
    def who_is_there(self) -> None:
        for tenant in ("a", "ab", "b"):
            found = {
                one.owner: (one.records, one.fingerprint)
                for one in self.stores[0].owners(tenant).owners
            }
            assert found == {
                owner: (len(mine), embedder(self.encoders[owner]).fingerprint)
                for owner, mine in self.kept.items()
                if owner.tenant == tenant
            }

    def _gone(self, owner: Owner) -> None:
        self.kept.pop(owner, None)
        self.encoders.pop(owner, None)


def run(make: Callable[[], list[SqlStore]], examples: int) -> None:
    run_state_machine_as_test(
        lambda: Model(make),  # type: ignore[arg-type]
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def two(database: str) -> list[SqlStore]:
    return [open_store(StoreConfig(database, cache_mb=size)) for size in (64, 1)]


def test_no_difference_and_no_leak_on_sqlite(tmp_path_factory: Any) -> None:
    run(lambda: two(str(tmp_path_factory.mktemp("store") / "enough.sqlite")), 25)


def test_no_difference_and_no_leak_on_postgresql(server: Server) -> None:
    run(lambda: two(server.new_database()), 12)
