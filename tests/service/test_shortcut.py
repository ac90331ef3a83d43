"""The short way answers as the long one, which another spelling of the content type takes."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.service.running import TASK, Running, tweets

SHORT, LONG = "application/json", "application/json; charset=utf-8"
GOOD = b'{"task": "LaMP-7", "user": "ann", "input": "Paraphrase this: my bus is late"}'


def answers(client: httpx.Client, path: str, body: bytes) -> list[tuple[int, Any]]:
    found = []
    for kind in (SHORT, LONG):
        answer = client.post(path, content=body, headers={"Content-Type": kind})
        found.append((answer.status_code, answer.json()))
    return found


@pytest.mark.parametrize(
    "body",
    [
        GOOD,
        b"",
        b"{",
        b"\xff\xfe{}",
        b'"\x80"',
        b"[" * 100_000,
        b"[]",
        b"null",
        b"17",
        b"{}",
        b'{"task": "LaMP-7", "input": "x", "user": "ann", "lambda": NaN}',
        b'{"task": "LaMP-7", "input": 3, "user": "ann"}',
        b'{"task": "LaMP-7", "input": "x", "user": "ann", "colour": "red"}',
        b'{"task": "LaMP-7", "input": "x \\ud83d", "user": "ann"}',
        b'{"task": "LaMP-7", "input": "x", "user": "ann", "history": [3]}',
        b'{"task": "nobody", "input": "x", "user": "ann"}',
        b'{"task": "LaMP-7", "input": "x"}',
    ],
    ids=range(17),
)
def test_both_ways_say_the_same(client: httpx.Client, body: bytes) -> None:
    client.post("/v1/users/ann/records", json={"task": TASK, "records": tweets(5)})
    for path in ("/v1/select", "/v1/keys", "/v1/chat/completions"):
        short, long = answers(client, path, body)
        assert short == long, path


def test_the_guard_is_the_same(shop: Running) -> None:
    for someone, status in ((shop.with_key(None), 401), (shop.client("ingest"), 403)):
        with someone as client:
            for answer in answers(client, "/v1/select", GOOD):
                assert answer[0] == status
    with shop.client() as client:
        other = client.get("/v1/select", headers={"Content-Type": SHORT})
    assert other.status_code == 405


def test_both_ways_are_counted(client: httpx.Client) -> None:
    counted = []
    for _ in range(2):
        answers(client, "/v1/select", GOOD)
        lines = client.get("/metrics").text.splitlines()
        wanted = 'enough_requests_total{method="POST",route="/v1/select",status="200"} '
        counted += [float(one.removeprefix(wanted)) for one in lines if one.startswith(wanted)]
    assert counted[1] == counted[0] + 2
