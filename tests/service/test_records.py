"""Records over HTTP: stored once, listed, erased; and what is said of wrong ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from enough.errors import StoreBusyError
from tests.service.running import Running, running, settings, tweets


def error_of(response: httpx.Response) -> dict[str, str]:
    body = response.json()
    assert set(body) == {"error"}
    assert {"type", "message"} <= set(body["error"]) <= {"type", "message", "field"}
    assert "Traceback" not in response.text
    found: dict[str, str] = body["error"]
    return found


def test_stored_once_and_listed_in_order(client: httpx.Client) -> None:
    sent = {"task": "lamp7", "records": tweets(5)}
    first = client.post("/v1/users/ann/records", json=sent)
    assert (first.status_code, first.json()) == (200, {"received": 5, "added": 5, "records": 5})
    again = client.post("/v1/users/ann/records", json={"task": "LaMP-7", "records": tweets(7)})
    assert again.json() == {"received": 7, "added": 2, "records": 7}
    pages, after = [], None
    while True:
        query = f"task=LaMP-7&limit=3{f'&after={after}' if after else ''}"
        page = client.get(f"/v1/users/ann/records?{query}").json()
        pages.append(page["records"])
        if (after := page["next"]) is None:
            break
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [one for page in pages for one in page] == tweets(7)


def test_fields_of_a_log_come_back(client: httpx.Client) -> None:
    given = {"id": "7", "date": "2012-05-30", "source_id": "film 3", "description": "x", "tag": "y"}
    client.post("/v1/users/bo/records", json={"task": "LaMP-2", "records": [given]})
    found = client.get("/v1/users/bo/records", params={"task": "LaMP-2"}).json()["records"]
    assert found == [given]
    assert client.get("/v1/users/bo/records", params={"task": "LaMP-7"}).json()["records"] == []


@pytest.mark.parametrize("name", ["a/b", "%2F", "50%", "Ünï çode\n", "a b?c#d", "auth0|1"])
def test_any_name_of_a_user_and_a_record(client: httpx.Client, name: str) -> None:
    at = f"/v1/users/{quote(name, safe='')}"
    record = {"id": name, "text": "omg late again"}
    assert client.post(f"{at}/records", json={"task": "LaMP-7", "records": [record]}).json() == {
        "received": 1,
        "added": 1,
        "records": 1,
    }
    users = client.get("/v1/users", params={"limit": 1000}).json()["users"]
    assert {"user": name, "task": "LaMP-7", "records": 1} in users
    gone = client.delete(f"{at}/records/{quote(name, safe='')}", params={"task": "LaMP-7"})
    assert gone.json() == {"deleted": 1, "scrubbed": True}


def test_half_characters_go_there_and_back(client: httpx.Client) -> None:
    record = {"id": "\ud800", "text": "half \udfff of it"}
    sent = json.dumps({"task": "LaMP-7", "records": [record]})
    json_type = {"Content-Type": "application/json"}
    assert client.post("/v1/users/half/records", content=sent, headers=json_type).is_success
    page = client.get("/v1/users/half/records", params={"task": "LaMP-7"})
    assert page.json()["records"] == [record | {"date": None}]


def test_erasing(client: httpx.Client) -> None:
    client.post("/v1/users/cy/records", json={"task": "LaMP-7", "records": tweets(6)})
    many = client.post("/v1/users/cy/records/delete", json={"task": "LaMP-7", "ids": ["t1", "t9"]})
    assert many.json() == {"deleted": 1, "scrubbed": True}
    one = client.delete("/v1/users/cy/records/t2", params={"task": "LaMP-7"})
    assert one.json()["deleted"] == 1
    left = client.get("/v1/users/cy/records", params={"task": "LaMP-7"}).json()["records"]
    assert [one["id"] for one in left] == ["t0", "t3", "t4", "t5"]
    assert client.delete("/v1/users/cy").json() == {"deleted": 4, "scrubbed": True}
    assert client.get("/v1/users/cy/records", params={"task": "LaMP-7"}).json()["records"] == []


@pytest.mark.parametrize(
    ("sent", "status", "kind", "field", "words"),
    [
        ({"task": "LaMP-9", "records": []}, 422, "unknown_name", None, "LaMP-7"),
        ({"records": []}, 422, "invalid_request", "task", "required"),
        ({"task": "LaMP-7", "records": [], "x": 1}, 422, "invalid_request", "x", "not permitted"),
        ({"task": "LaMP-7", "records": [{"id": "1"}]}, 422, "invalid_request", "text", "records:0"),
        ({"task": "LaMP-7", "records": [{"text": "x"}]}, 422, "invalid_request", "id", "missing"),
        ({"task": "LaMP-7", "records": [3]}, 422, "invalid_request", "records.0", "dictionary"),
        (
            {"task": "LaMP-7", "records": [{"id": "1", "text": "x", "date": "soon"}]},
            422,
            "invalid_request",
            "date",
            "ISO 8601",
        ),
        ({"task": "../../etc/passwd.toml", "records": []}, 422, "unknown_name", None, "Known"),
    ],
)
def test_what_is_wrong_is_named(
    client: httpx.Client, sent: object, status: int, kind: str, field: str | None, words: str
) -> None:
    response = client.post("/v1/users/dee/records", json=sent)
    error = error_of(response)
    assert (response.status_code, error["type"], error.get("field")) == (status, kind, field)
    assert words in error["message"]
    assert client.get("/v1/users", params={"limit": 1000}).text.count('"dee"') == 0


def test_texts_that_are_too_long(tmp_path: Path) -> None:
    config = settings(tmp_path)
    config = replace(config, limits=replace(config.limits, text_chars=30))
    with running(config) as shop, shop.client() as client:
        for length, status in ((30, 200), (31, 422)):
            record = {"id": str(length), "text": "x" * length}
            sent = client.post("/v1/users/a/records", json={"task": "LaMP-7", "records": [record]})
            asked = {"task": "LaMP-7", "user": "a", "input": "Say: ".ljust(length, "x")}
            chosen = client.post("/v1/select", json=asked)
            assert (sent.status_code, chosen.status_code) == (status, status)
        assert error_of(sent)["field"] == "text"
        assert "a record of 31 characters; send at most 30" in error_of(sent)["message"]
        assert error_of(chosen)["field"] == "input"


def test_a_deletion_that_was_done_is_forgotten_though_its_end_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(settings(tmp_path)) as shop, shop.client() as client:
        client.post("/v1/users/a/records", json={"task": "LaMP-7", "records": tweets(3)})
        memories = shop.service.machinery.memories
        before = memories.of("shop", "a")

        def busy(_: object) -> None:
            raise StoreBusyError("somebody else is at it")

        monkeypatch.setattr("enough.store.erasing.finish_deletion", busy)
        assert client.delete("/v1/users/a").status_code == 503
        assert memories.of("shop", "a") is not before


def test_another_record_under_a_known_id(client: httpx.Client) -> None:
    client.post("/v1/users/eve/records", json={"task": "LaMP-7", "records": tweets(2)})
    changed = client.post(
        "/v1/users/eve/records", json={"task": "LaMP-7", "records": tweets(2, word="early")}
    )
    assert changed.status_code == 409
    assert error_of(changed)["type"] == "conflict"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"task": NaN}'])
def test_bodies_that_are_no_json(client: httpx.Client, body: bytes) -> None:
    response = client.post(
        "/v1/users/x/records", content=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code in (400, 422)
    error_of(response)


def test_a_body_without_its_type(client: httpx.Client) -> None:
    """As curl sends it, where nobody thinks of the header."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/v1/users/x/records", "/v1/select"):
        response = client.post(path, content=b'{"task": "LaMP-7"}', headers=form)
        assert response.status_code == 422
        assert "Content-Type: application/json" in error_of(response)["message"]


def test_paths_and_methods_that_are_not_there(client: httpx.Client) -> None:
    assert (client.get("/v2").status_code, error_of(client.get("/v2"))["type"]) == (
        404,
        "not_found",
    )
    wrong = client.put("/v1/users/x/records")
    assert (wrong.status_code, error_of(wrong)["type"]) == (405, "method_not_allowed")
    assert client.get("/v1/users/%ff/records").status_code == 400


def test_bodies_that_are_too_large(tmp_path: Path) -> None:
    from dataclasses import replace

    config = settings(tmp_path)
    config = replace(config, limits=replace(config.limits, body_bytes=5000, records_per_batch=3))
    with running(config) as shop, shop.client() as client:
        large = json.dumps({"task": "LaMP-7", "records": tweets(300)}).encode()
        at = "/v1/users/x/records"
        assert client.post(at, content=large).status_code == 413

        def chunks() -> object:
            yield from (large[i : i + 1000] for i in range(0, len(large), 1000))

        chunked = client.post(at, content=chunks())  # type: ignore[arg-type]
        assert (chunked.status_code, error_of(chunked)["type"]) == (413, "too_large")
        many = client.post(at, json={"task": "LaMP-7", "records": tweets(4)})
        assert (many.status_code, error_of(many)["field"]) == (422, "records")
        assert client.post(at, json={"task": "LaMP-7", "records": tweets(3)}).status_code == 200


def test_health_and_pages_need_no_key_and_no_network(shop: Running) -> None:
    with shop.with_key(None) as anybody:
        assert anybody.get("/healthz").json() == {"status": "ok"}
        assert anybody.get("/readyz").json() == {"status": "ok", "store": True, "models": True}
        page = anybody.get("/docs").text
        assert "/v1/users/{user}/records" in page
        assert "http" not in page.replace("/openapi.json", "")
        described = anybody.get("/openapi.json").json()
        assert described["openapi"].startswith("3.")
        assert described["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
        assert described["paths"]["/v1/select"]["post"]["security"] == [{"key": []}]
        assert described["paths"]["/metrics"]["get"]["security"] == [{"key": []}]
        assert "security" not in described["paths"]["/healthz"]["get"]


def test_fields_that_nothing_reads_are_named(client: httpx.Client) -> None:
    record = {"id": "1", "text": "late again", "timestamp": "2030-01-01"}
    body = {"task": "LaMP-7", "records": [record, record | {"id": "2", "mood": "low"}]}
    answer = client.post("/v1/users/reader/records", json=body).json()
    assert answer == {
        "received": 2,
        "added": 2,
        "records": 2,
        "ignored_fields": ["mood", "timestamp"],
    }
