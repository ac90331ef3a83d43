"""Who may do what: every route, every scope, and keys that open nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from enough.service.gate import Gate
from enough.service.problems import ProblemError
from enough.store.values import Scope
from tests.service.running import Running, running, settings, tweets
from tests.service.test_records import error_of

SCOPES = {
    ("POST", "/v1/users/{user}/records"): "ingest",
    ("GET", "/v1/users/{user}/records"): "read",
    ("DELETE", "/v1/users/{user}/records/{record}"): "ingest",
    ("POST", "/v1/users/{user}/records/delete"): "ingest",
    ("DELETE", "/v1/users/{user}"): "admin",
    ("POST", "/v1/users/{user}/reembed"): "admin",
    ("GET", "/v1/users"): "admin",
    ("POST", "/v1/select"): "select",
    ("POST", "/v1/answer"): "select",
    ("POST", "/v1/chat/completions"): "select",
    ("GET", "/v1/models"): "select",
    ("POST", "/v1/keys"): "admin",
    ("GET", "/v1/keys"): "admin",
    ("DELETE", "/v1/keys/{key}"): "admin",
    ("GET", "/metrics"): "admin",
    ("GET", "/healthz"): None,
    ("GET", "/readyz"): None,
}


def test_the_table_has_every_route(shop: Running) -> None:
    found = {
        (method.upper(), path)
        for path, methods in shop.app.openapi()["paths"].items()
        for method in methods
    }
    assert found == set(SCOPES)


@pytest.fixture(scope="module")
def keys(shop: Running) -> dict[str, str]:
    return {scope.value: shop.key(scope.value) for scope in Scope}


@pytest.mark.parametrize(("method", "path"), SCOPES, ids=lambda part: part)
def test_every_route_and_every_scope(
    shop: Running, keys: dict[str, str], method: str, path: str
) -> None:
    needed = SCOPES[method, path]
    at = path.format(user="nobody", record="r", key="enough-0")
    # A body that nobody reads: whoever may not come in is told so, not what is wrong with it.
    for scope, secret in keys.items():
        with shop.with_key(secret) as client:
            response = client.request(method, at, content=b"{")
        if needed is None or scope == needed:
            assert response.status_code not in (401, 403), (method, path, scope)
        else:
            assert (response.status_code, error_of(response)["type"]) == (403, "forbidden")
    revoked = shop.key()
    store = shop.service.door.open()
    store.keys.revoke("shop", revoked.partition(".")[0])
    altered = keys["admin"][:-1] + ("x" if keys["admin"][-1] != "x" else "y")
    for wrong in (None, "x", "enough-0.x", revoked, altered):
        with shop.with_key(wrong) as client:
            response = client.request(method, at, content=b"{")
        if needed is None:
            assert response.status_code == 200
        else:
            assert (response.status_code, error_of(response)["type"]) == (401, "unauthorized")
            assert response.headers["WWW-Authenticate"] == "Bearer"


def test_keys_over_http(shop: Running) -> None:
    with shop.client("admin", tenant="keys") as admin:
        made = admin.post("/v1/keys", json={"scopes": ["read", "ingest"]}).json()
        assert (made["tenant"], made["scopes"]) == ("keys", ["ingest", "read"])
        listed = admin.get("/v1/keys").json()["keys"]
        assert [one["id"] for one in listed][1] == made["id"]
        assert made["secret"] not in admin.get("/v1/keys").text
        with shop.with_key(made["secret"]) as client:
            at = "/v1/users/ann/records"
            assert client.post(at, json={"task": "LaMP-7", "records": tweets(1)}).is_success
            assert client.get("/v1/keys").status_code == 403
            with shop.client("admin", tenant="other") as stranger:
                assert stranger.delete(f"/v1/keys/{made['id']}").json() == {"revoked": False}
            assert client.get(at, params={"task": "LaMP-7"}).is_success
            assert admin.delete(f"/v1/keys/{made['id']}").json() == {"revoked": True}
            assert client.get(at, params={"task": "LaMP-7"}).status_code == 401
        assert admin.post("/v1/keys", json={"scopes": ["root"]}).status_code == 422
        assert admin.post("/v1/keys", json={"scopes": []}).status_code == 422


def test_a_key_revoked_elsewhere_is_refused_soon(shop: Running) -> None:
    secret = shop.key()
    with shop.with_key(secret) as client:
        assert client.get("/v1/users").is_success
        shop.service.door.open().keys.revoke("shop", secret.partition(".")[0])  # another process
        until = time.monotonic() + 2
        while client.get("/v1/users").is_success:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert client.get("/v1/users").status_code == 401


@pytest.fixture
def open_shop(tmp_path: Path) -> Iterator[Running]:
    with running(settings(tmp_path, open=True)) as one:
        yield one


def test_an_open_service_has_one_tenant_and_one_name(open_shop: Running) -> None:
    with open_shop.with_key(None) as anybody:
        assert anybody.post(
            "/v1/users/ann/records", json={"task": "LaMP-7", "records": tweets(1)}
        ).is_success
        assert [one["user"] for one in anybody.get("/v1/users").json()["users"]] == ["ann"]
        # A page in a browser whose name was made to point to this machine.
        strange = anybody.get("/v1/users", headers={"Host": "evil.example:80"})
        assert strange.status_code == 403
        other_site = anybody.get("/v1/users", headers={"Sec-Fetch-Site": "cross-site"})
        assert (other_site.status_code, "another site" in other_site.text) == (403, True)
        assert anybody.get("/v1/users", headers={"Sec-Fetch-Site": "same-origin"}).is_success
        form = anybody.post(
            "/v1/users/ann/records",
            content=b'{"task": "LaMP-7", "records": []}',
            headers={"Content-Type": "text/plain"},
        )
        assert form.status_code == 422
    with open_shop.client(tenant="shop") as other:
        assert other.get("/v1/users").json()["users"] == []
    with open_shop.with_key("wrong") as wrong:
        assert wrong.get("/v1/users").status_code == 401


def test_too_many_requests(tmp_path: Path) -> None:
    config = settings(tmp_path)
    config = replace(config, limits=replace(config.limits, requests_per_minute=3))
    with running(config) as shop, shop.client() as client, shop.client() as other:
        answers = [client.get("/v1/users") for _ in range(4)]
        assert [one.status_code for one in answers] == [200, 200, 200, 429]
        assert error_of(answers[3])["type"] == "rate_limited"
        assert 1 <= int(answers[3].headers["Retry-After"]) <= 20
        assert other.get("/v1/users").is_success
        assert client.get("/healthz").is_success


def test_what_a_key_may_ask_comes_back_over_the_minute(shop: Running) -> None:
    now = 0.0
    gate = Gate(shop.service.door, is_open=True, per_minute=60, clock=lambda: now)
    key = gate.known({"host": "localhost:80"})
    assert key is not None
    for _ in range(60):
        gate.count(key)
    with pytest.raises(ProblemError) as refused:
        gate.count(key)
    assert refused.value.headers["Retry-After"] == "1"
    now = 2.5
    gate.count(key)
    gate.count(key)
    with pytest.raises(ProblemError):
        gate.count(key)


def test_overload(tmp_path: Path) -> None:
    config = settings(tmp_path)
    config = replace(config, limits=replace(config.limits, concurrent=1))
    with running(config) as shop, shop.client() as client:
        shop.service.enter()
        busy = client.get("/v1/users")
        assert (busy.status_code, error_of(busy)["type"]) == (503, "overloaded")
        assert busy.headers["Retry-After"] == "1"
        assert client.get("/healthz").is_success
        shop.service.leave()
        assert client.get("/v1/users").is_success


def test_guessers_do_not_take_everybodys_threads(tmp_path: Path) -> None:
    config = settings(tmp_path)
    config = replace(config, limits=replace(config.limits, concurrent=1))
    with running(config) as shop, shop.client() as client, shop.with_key("enough-x") as guesser:
        assert client.get("/v1/users").is_success  # and is remembered for a second
        with shop.service.look_up():
            refused = guesser.get("/v1/users")
            assert (refused.status_code, error_of(refused)["type"]) == (503, "overloaded")
            assert client.get("/v1/users").is_success
        assert guesser.get("/v1/users").status_code == 401


def test_secrets_and_texts_stay_out_of_the_log(
    shop: Running, caplog: pytest.LogCaptureFixture
) -> None:
    secret = shop.key()
    with caplog.at_level("DEBUG"), shop.with_key(secret) as client:
        client.post(
            "/v1/users/hidden-name/records",
            json={"task": "LaMP-7", "records": [{"id": "hidden-id", "text": "hidden-text"}]},
        )
        client.post("/v1/users/hidden-name/records", json={"task": "hidden-task", "records": []})
        client.post("/v1/users/hidden-name/records", content=b"hidden-body")
        for _ in range(500):  # lines come a little late
            if caplog.text.count("POST /v1/users/{user}/records") == 3:
                break
            time.sleep(0.01)
    ours = "\n".join(
        record.getMessage() for record in caplog.records if not record.name.startswith("http")
    )
    assert "POST /v1/users/{user}/records 200" in ours
    assert "hidden" not in ours
    assert secret not in ours
    assert isinstance(client, httpx.Client)
