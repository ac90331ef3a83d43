"""Random tenants, users, keys and operations over HTTP: the service does what plain dicts would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.service.running import Running, running, tweets
from tests.service.running import settings as serving

TENANTS, USERS, TASKS = ("a", "ab"), ("u", "bu", "x/u"), ("LaMP-7", "LaMP-4")
tenants, users, tasks = (st.sampled_from(values) for values in (TENANTS, USERS, TASKS))
numbers = st.lists(st.integers(0, 40), min_size=1, max_size=12, unique=True)


def line(tenant: str, task: str, number: int) -> dict[str, Any]:
    """Every text says whose it is."""
    text = f"{tenant}-secret {number} w{number % 7} late bus"
    if task == "LaMP-4":
        return {"id": f"r{number}", "date": None, "text": "late bus news", "title": text}
    return {"id": f"r{number}", "date": None, "text": text}


class Model(RuleBasedStateMachine):
    """Plain dicts beside the service; the tenants are new ones in every run."""

    shop: Running
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        Model.runs += 1
        self.names = {tenant: f"{tenant}{Model.runs}" for tenant in TENANTS}
        self.clients = {t: [self.shop.client(tenant=name)] for t, name in self.names.items()}
        self.kept: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}

    def teardown(self) -> None:
        for clients in self.clients.values():
            for client in clients:
                client.close()

    def client(self, tenant: str) -> httpx.Client:
        return self.clients[tenant][-1]

    @rule(tenant=tenants, user=users, task=tasks, new=numbers)
    def store(self, tenant: str, user: str, task: str, new: list[int]) -> None:
        mine = self.kept.setdefault((tenant, user, task), {})
        given = {f"r{n}": line(tenant, task, n) for n in new}
        found = self.client(tenant).post(
            f"/v1/users/{user.replace('/', '%2F')}/records",
            json={"task": task, "records": list(given.values())},
        )
        fresh = {k: v for k, v in given.items() if k not in mine}
        mine |= fresh
        assert found.json() == {"received": len(given), "added": len(fresh), "records": len(mine)}

    @rule(tenant=tenants, user=users, task=tasks, gone=numbers)
    def erase(self, tenant: str, user: str, task: str, gone: list[int]) -> None:
        mine = self.kept.get((tenant, user, task), {})
        ids = [f"r{n}" for n in gone]
        found = self.client(tenant).post(
            f"/v1/users/{user.replace('/', '%2F')}/records/delete", json={"task": task, "ids": ids}
        )
        assert found.json()["deleted"] == sum(mine.pop(one, None) is not None for one in ids)

    @rule(tenant=tenants, user=users)
    def erase_user(self, tenant: str, user: str) -> None:
        found = self.client(tenant).delete(f"/v1/users/{user.replace('/', '%2F')}")
        count = sum(len(self.kept.pop((tenant, user, task), {})) for task in TASKS)
        assert found.json()["deleted"] == count

    @rule(tenant=tenants, user=users, task=tasks)
    def read(self, tenant: str, user: str, task: str) -> None:
        found = self.client(tenant).get(
            f"/v1/users/{user.replace('/', '%2F')}/records", params={"task": task, "limit": 1000}
        )
        assert found.json()["records"] == list(self.kept.get((tenant, user, task), {}).values())

    @rule(tenant=tenants, user=users, task=tasks, number=st.integers(0, 40))
    def select(self, tenant: str, user: str, task: str, number: int) -> None:
        mine = self.kept.get((tenant, user, task), {})
        before = "article:" if task == "LaMP-4" else "Paraphrase:"
        asking = {"task": task, "user": user, "input": f"{before} w{number % 7} late bus"}
        for policy in ("controller", "untrained"):
            response = self.client(tenant).post("/v1/select", json=asking | {"policy": policy})
            found = response.json()
            seen = {one["id"] for one in found["records"]} | {
                one["id"] for one in found["left_out"]
            }
            assert seen <= set(mine)
            assert len(seen) >= min(len(mine), 20)
            other = next(one for one in TENANTS if one != tenant)
            assert f"{other}-secret" not in response.text

    @rule(tenant=tenants)
    def new_key(self, tenant: str) -> None:
        made = self.client(tenant).post(
            "/v1/keys", json={"scopes": ["ingest", "read", "select", "admin"]}
        )
        assert made.json()["tenant"] == self.names[tenant]
        self.clients[tenant].append(self.shop.with_key(made.json()["secret"]))

    @rule(tenant=tenants)
    def revoke_key(self, tenant: str) -> None:
        if len(self.clients[tenant]) < 2:
            return
        gone = self.clients[tenant].pop()
        identity = gone.headers["Authorization"].removeprefix("Bearer ").partition(".")[0]
        assert self.client(tenant).delete(f"/v1/keys/{identity}").json() == {"revoked": True}
        assert gone.get("/v1/users").status_code == 401
        gone.close()

    @invariant()
    def who_is_there(self) -> None:
        for tenant in TENANTS:
            found = self.client(tenant).get("/v1/users", params={"limit": 1000}).json()["users"]
            assert {(one["user"], one["task"], one["records"]) for one in found} == {
                (user, task, len(mine))
                for (owner, user, task), mine in self.kept.items()
                if owner == tenant and mine
            }


def test_no_difference_and_no_leak(tmp_path: Path) -> None:
    with running(serving(tmp_path)) as shop:
        Model.shop = shop
        run_state_machine_as_test(
            Model,
            settings=settings(
                max_examples=8,
                stateful_step_count=25,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


def test_after_erasure_no_byte_is_left(tmp_path: Path) -> None:
    def on_disk() -> bytes:
        return b"".join(part.read_bytes() for part in sorted(tmp_path.iterdir()))

    with running(serving(tmp_path)) as shop, shop.client() as client:
        kept = {"task": "LaMP-7", "records": tweets(80, word="kept-word")}
        gone = {"task": "LaMP-7", "records": tweets(80, word="gone-word")}
        client.post("/v1/users/stays/records", json=kept)
        client.post("/v1/users/leaves-now/records", json=gone)
        other = {"id": "1", "text": "gone-word", "title": "gone-word"}
        client.post("/v1/users/leaves-now/records", json={"task": "LaMP-4", "records": [other]})
        asking = {"task": "LaMP-7", "input": "Paraphrase: gone-word bus", "user": "leaves-now"}
        assert client.post("/v1/select", json=asking).json()["trace"]
        assert b"gone-word" in on_disk()
        assert client.delete("/v1/users/leaves-now").json() == {"deleted": 81, "scrubbed": True}
        found = on_disk()
        assert b"gone-word" not in found
        assert b"leaves-now" not in found
        assert found.count(b"kept-word") >= 75  # one that lies on two pages is not found
        memories = shop.service.machinery.memories
        assert ("shop", "leaves-now") not in memories._held
        assert ("shop", "stays") in memories._held


@pytest.mark.parametrize("field", ["user", "tenant"])
def test_names_cannot_reach_elsewhere(tmp_path: Path, field: str) -> None:
    """Neither a body nor a header can name another tenant."""
    with (
        running(serving(tmp_path)) as shop,
        shop.client() as mine,
        shop.client(tenant="b") as other,
    ):
        other.post("/v1/users/u/records", json={"task": "LaMP-7", "records": tweets(3)})
        asking = {"task": "LaMP-7", "input": "Paraphrase: late bus", "user": "u"}
        headers = {"X-Tenant": "b", "Tenant": "b"}
        if field == "tenant":
            response = mine.post("/v1/select", json=asking | {"tenant": "b"}, headers=headers)
            assert response.status_code == 422
        else:
            answer = mine.post("/v1/select", json=asking, headers=headers).json()
            assert (answer["records"], answer["left_out"]) == ([], [])
