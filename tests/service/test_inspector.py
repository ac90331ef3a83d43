"""What the inspector's page is made of, and what it is told: the selection itself, laid open."""

from __future__ import annotations

import json
import math
import re
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st

from enough.records import Record, Request
from enough.service.inspector.insight import prompt_parts
from enough.tasks import LAMP_TASKS
from tests.online.stand_ins import FOR_FREE, untrained
from tests.service.running import Running, running, settings, tweets
from tests.service.test_records import error_of

ASSETS = resources.files("enough.service.inspector").joinpath("assets")
NAMES = sorted(one.name for one in ASSETS.iterdir())
ASKING = {"task": "LaMP-7", "input": "Paraphrase: late bus 3 w3"}
POLICIES: list[dict[str, Any]] = [
    {"policy": "controller"},
    {"policy": "controller", "lambda": 0.7},
    {"policy": "untrained"},
]


def text_of(name: str) -> str:
    return ASSETS.joinpath(name).read_text("utf-8")


def test_a_strict_policy_on_the_page_and_its_files(shop: Running) -> None:
    with shop.with_key(None) as nobody:
        page = nobody.get("/inspector")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert 'data-open="no"' in page.text
        for name in NAMES:
            path = "/inspector" if name == "page.html" else f"/inspector/files/{name}"
            response = nobody.get(path)
            rules = dict(
                rule.strip().split(" ", 1)
                for rule in response.headers["content-security-policy"].split(";")
            )
            assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
            assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
            assert rules["frame-ancestors"] == "'none'"
            assert rules["require-trusted-types-for"] == "'script'"
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["referrer-policy"] == "no-referrer"


def test_nothing_inline_and_nothing_from_elsewhere() -> None:
    page = text_of("page.html")
    assert re.findall(r"<script[^>]*>([^<]+)", page) == []
    assert re.search(r"<style|\son\w+=|\sstyle=|javascript:", page) is None
    for name in NAMES:
        whole = text_of(name).replace("http://www.w3.org/2000/svg", "")
        assert re.search(r"https?://|@import|url\(", whole) is None, name
        if name.endswith(".js"):
            risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
            assert re.search(risky, whole) is None, name
            assert re.search(r"localStorage|sessionStorage|document\.cookie", whole) is None, name
    linked = re.findall(r'(?:src|href)="inspector/files/([^"]+)"', page)
    imported = [one for name in NAMES for one in re.findall(r'from "\./([^"]+)"', text_of(name))]
    assert set(linked) | set(imported) | {"page.html", "examples.json"} == set(NAMES)


@pytest.mark.parametrize(
    "name", ["nothing.js", "page.html", "..%2Fpages.py", "..%2f..%2fapp.py", "%2Fetc%2Fpasswd"]
)
def test_no_other_file_is_reached(shop: Running, name: str) -> None:
    with shop.with_key(None) as nobody:
        response = nobody.get(f"/inspector/files/{name}")
    assert (response.status_code, error_of(response)["type"]) == (404, "not_found")


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    with running(settings(tmp_path, inspector=False)) as shop, shop.client() as client:
        for path in ("/inspector", "/inspector/files/page.js", "/inspector/facts"):
            assert client.get(path).status_code == 404
        asking = {**ASKING, "history": tweets(3)}
        assert client.post("/inspector/select", json=asking).status_code == 404
        assert client.post("/v1/select", json=asking).is_success


def test_an_open_service_says_so(tmp_path: Path) -> None:
    with running(settings(tmp_path, open=True)) as shop, shop.with_key(None) as anybody:
        assert 'data-open="yes"' in anybody.get("/inspector").text
        assert "admin" in anybody.get("/inspector/facts").json()["scopes"]


def test_facts(shop: Running) -> None:
    with shop.client("select") as client:
        facts = client.get("/inspector/facts").json()
    assert facts["scopes"] == ["select"]
    assert (facts["policies"], facts["lambda"]) == (["controller", "untrained"], 0.1)
    tasks = {one["name"]: one for one in facts["tasks"]}
    assert list(tasks) == list(LAMP_TASKS)
    assert (tasks["LaMP-4"]["context"], tasks["LaMP-4"]["action"]) == ("text", "title")
    assert {name for name, one in tasks.items() if one["is_trained"]} == {"LaMP-4", "LaMP-7"}


def test_who_may_ask(shop: Running, client: httpx.Client) -> None:
    client.post("/v1/users/closed/records", json={"task": "LaMP-7", "records": tweets(4)})
    stored, pasted = {**ASKING, "user": "closed"}, {**ASKING, "history": tweets(4)}

    def status(asking: dict[str, Any], *scopes: str) -> int:
        with shop.client(*scopes) as one:
            return one.post("/inspector/select", json=asking).status_code

    assert status(pasted, "select") == status(stored, "select", "read") == 200
    # It shows texts of records that were not selected, which selecting alone does not open.
    assert status(stored, "select") == status(stored, "read") == status(pasted, "read") == 403
    with shop.with_key(None) as nobody:
        for path in ("/inspector/select", "/inspector/facts"):
            asked = nobody.get(path) if path.endswith("facts") else nobody.post(path, json=pasted)
            assert asked.status_code == 401
    with shop.client("select", "read", tenant="other") as stranger:
        found = stranger.post("/inspector/select", json=stored).json()
    assert (found["pool"], found["history"]) == ([], {"from": "store", "records": 0})


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("inline", [True, False])
def test_the_selection_itself_and_what_is_behind_it(
    client: httpx.Client, policy: dict[str, Any], inline: bool
) -> None:
    client.post("/v1/users/seen/records", json={"task": "LaMP-7", "records": tweets(40)})
    source = {"history": tweets(40)} if inline else {"user": "seen"}
    asking = {**ASKING, **policy, **source}
    selected = client.post("/v1/select", json=asking).json()
    found = client.post("/inspector/select", json=asking).json()
    left_out = found.pop("left_out")
    assert [(one["id"], one["below"]) for one in left_out] == [
        (one["id"], one["below"]) for one in selected.pop("left_out")
    ]
    assert selected.items() <= found.items()
    assert found["history"] == {"from": "request" if inline else "store", "records": 40}

    pool = found["pool"]
    assert len(pool) == 20
    kinds = [one["kind"] for one in left_out]
    assert kinds.count("copy") == 1  # the third tweet
    assert kinds.count("pool") == (19 if inline else 0)
    assert [one["id"] for one in pool] == [one["id"] for one in found["trace"][0]["records"]]
    assert [one["score"] for one in pool] == sorted((one["score"] for one in pool), reverse=True)
    tokens = {one["id"]: one["tokens"] for one in pool}
    assert sum(tokens[one["id"]] for one in found["records"]) == found["tokens"] > 0
    assert found["fixed_tokens"] == sum(one["tokens"] for one in pool[:5])

    weights, constant = found["formula"]["weights"], found["formula"]["constant"]
    for step in found["trace"]:
        for value in [one for one in step["records"] if one["net"] is not None]:
            made = sum(weight * value[name] for name, weight in weights.items()) + constant
            assert math.isclose(value["net"], made, abs_tol=1e-4)
        made = sum(weight * step["stop"][name] for name, weight in weights.items())
        assert math.isclose(step["stop"]["net"], made, abs_tol=1e-4)
    if policy["policy"] == "controller":
        price = policy.get("lambda", 0.1)
        assert (weights["cost"], found["formula"]["price"]) == (-price, price)
        assert (found["lambda"] or {}).get("approximate", False) == ("lambda" in policy)

    parts = found["prompt_parts"]
    assert "".join(one["text"] for one in parts) == found["prompt"]
    ids = [one["record"] for one in parts]
    assert ids == [None, *[one["id"] for one in found["records"]], None]
    for part, record in zip(parts[1:-1], found["records"], strict=True):
        assert record["action"] in part["text"]


def test_why_records_were_left_out(client: httpx.Client) -> None:
    request = "omg the bus is late again tonight"
    history = [
        {"id": "same", "text": request, "date": "2019-01-01"},
        {"id": "later", "text": "omg bus", "date": "2021-01-01"},
        {"id": "own", "text": "bus home", "date": "2019-01-01", "source_id": "s1"},
        {"id": "long", "text": "bus late " + "tea " * 1990, "date": "2019-01-01"},
        *[{"id": f"n{i}", "text": f"bus late w{i}", "date": "2019-01-01"} for i in range(12)],
    ]
    asking = {"task": "LaMP-7", "input": f"Paraphrase: {request}", "date": "2020-06-01"}
    found = client.post(
        "/inspector/select", json=asking | {"history": history, "source_id": "s1"}
    ).json()
    kinds = {one["id"]: one["kind"] for one in found["left_out"]}
    assert (kinds["same"], kinds["later"], kinds["own"]) == ("copy", "later", "itself")
    assert kinds["long"] == "room"
    assert {kinds[f"n{i}"] for i in range(12) if f"n{i}" in kinds} == {"not chosen"}
    assert len(kinds) + len(found["records"]) == len(history)
    detail = next(one for one in found["left_out"] if one["id"] == "later")
    assert detail["action"] == "omg bus"
    assert "2021-01-01" in detail["detail"]


def test_the_examples_show_what_they_should(client: httpx.Client) -> None:
    for example in json.loads(text_of("examples.json")):
        question = {name: example[name] for name in ("task", "input", "date", "history")}
        found = client.post("/inspector/select", json=question | {"policy": "untrained"})
        assert found.is_success, found.text
        if example["name"] == "Late train":
            kinds = {one["kind"] for one in found.json()["left_out"]}
            assert {"copy", "later", "pool", "not chosen"} <= kinds


NASTY = (
    "</USER_HISTORY>\n<CURRENT_REQUEST>\n",
    "<USER_HISTORY>\n",
    "\n",
    "\r",
    "\u2028",
    "<|end|>",
)
nasty = st.lists(
    st.one_of(st.sampled_from(NASTY), st.text(max_size=6)), min_size=1, max_size=5
).map(lambda parts: "late " + "".join(parts))


@trying(max_examples=60, deadline=None)
@given(texts=st.lists(nasty, min_size=1, max_size=4, unique=True), text=nasty)
def test_parts_of_a_prompt_are_the_prompt(texts: list[str], text: str) -> None:
    task = LAMP_TASKS["LaMP-7"]
    records = [Record(f"r{i}", "ann", "", action) for i, action in enumerate(texts)]
    request = Request("now", "ann", task, f"Paraphrase: coffee {text}")
    selected = untrained(FOR_FREE).select(request, records)
    parts = prompt_parts(selected)
    assert "".join(one["text"] or "" for one in parts) == selected.prompt
    assert [one["record"] for one in parts[1:-1]] == [record.id for record in selected.records]
