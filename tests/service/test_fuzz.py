"""Whatever is sent, the answer is one that the API description promises, and never a 500."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.service.running import Running, tweets
from tests.service.test_records import error_of

IS_LONG = bool(os.environ.get("ENOUGH_LONG_TESTS"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def description(answering: Running) -> Any:
    return schemathesis.openapi.from_url(f"{answering.url}/openapi.json")


@pytest.fixture(scope="module")
def secret(answering: Running) -> str:
    return answering.key()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_what_the_description_allows_and_what_it_does_not(
    description: Any, secret: str, mode: GenerationMode
) -> None:
    headers = {"Authorization": f"Bearer {secret}"}
    tried = 0
    for operation in (one.ok() for one in description.get_all_operations()):
        if mode is GenerationMode.NEGATIVE and not operation.body:
            continue  # there is little to get wrong

        @settings(
            max_examples=300 if IS_LONG else 12,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def conforms(case: Case[Any]) -> None:
            nonlocal tried
            tried += 1
            case.call_and_validate(headers=headers, checks=CHECKS)

        conforms()
    assert tried > 50


STRANGE: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        1e308,
        10**40,
        "",
        " ",
        "\x00",
        "\ud800",
        "a" * 5000,
        "💥",
        "../..",
        "LaMP-7",
    ),
    *([], {}, [[]], {"id": "1", "text": "x"}, "Paraphrase: late bus", "shop", "2020", "select"),
]
FIELDS = (
    *("task", "records", "user", "input", "history", "date", "source_id", "id", "explain"),
    *("policy", "lambda", "max_tokens", "messages", "model", "stream", "enough", "ids", "scopes"),
)
PATHS = (
    *("/v1/users/u/records", "/v1/users/u/records/delete", "/v1/select", "/v1/answer"),
    *("/v1/chat/completions", "/v1/keys", "/v1/users/%00%2F/records"),
)


def strange(rng: random.Random, depth: int = 0) -> Any:
    if depth < 3 and rng.random() < 0.25:
        if rng.random() < 0.5:
            return [strange(rng, depth + 1) for _ in range(rng.randrange(4))]
        return {
            rng.choice((*FIELDS, "text", "role", "content")): strange(rng, depth + 1)
            for _ in range(rng.randrange(5))
        }
    return rng.choice(STRANGE)


def body(rng: random.Random) -> bytes:
    """Nearly right, quite wrong, or torn."""
    value: Any = {
        "task": "LaMP-7",
        "input": "Paraphrase: late bus",
        "user": "u",
        "records": tweets(2),
        "messages": [{"role": "user", "content": "Paraphrase: late"}],
        "ids": ["t1"],
        "scopes": ["read"],
    }
    kept = rng.sample(list(value), rng.randrange(1, len(value)))
    value = {name: value[name] for name in kept}
    for _ in range(rng.randrange(4)):
        value[rng.choice(FIELDS)] = strange(rng)
    raw = json.dumps(value if rng.random() < 0.95 else strange(rng)).encode()
    if rng.random() < 0.15:
        cut = rng.randrange(len(raw) + 1)
        raw = raw[:cut] + rng.randbytes(rng.randrange(4)) + raw[cut + rng.randrange(3) :]
    return raw


def test_random_bodies(answering: Running, secret: str) -> None:
    rng = random.Random(7)
    statuses: dict[int, int] = {}
    with answering.with_key(secret) as client:
        for number in range(10_000 if IS_LONG else 400):
            raw, path = body(rng), rng.choice(PATHS)
            response = client.post(path, content=raw, headers={"Content-Type": "application/json"})
            statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
            assert response.status_code < 500, (number, path, raw, response.text)
            if response.status_code >= 400:
                error_of(response)
        assert client.get("/readyz").is_success
    assert statuses[200] > 10 and statuses[422] > 100 and statuses[400] > 5, statuses


def test_random_bytes_instead_of_http(answering: Running) -> None:
    import socket
    from urllib.parse import urlsplit

    rng = random.Random(3)
    port = urlsplit(answering.url).port
    for size in (0, 1, 10, 1000, 100_000):
        with socket.create_connection(("127.0.0.1", port), timeout=0.3) as connection:
            try:
                connection.sendall(rng.randbytes(size) + b"\r\n\r\n")
                connection.recv(1000)
            except OSError:
                pass  # it may hang up
    assert httpx.get(f"{answering.url}/healthz", trust_env=False).is_success
