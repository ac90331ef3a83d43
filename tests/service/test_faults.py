"""Killed, told to stop, without its database, too slow: nothing is lost, and it comes back."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest

from enough.errors import StoreFullError
from enough.protocols import Floats
from enough.service.server import _require_keys
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.values import Owner
from tests.retrieval.tiny import BagEncoder
from tests.service.running import models, running, settings
from tests.service.server_process import SlowEncoder, free_port, process
from tests.service.test_records import error_of
from tests.store.conftest import server  # noqa: F401 (a fixture)
from tests.store.server import Server
from tests.store.things import everything

KILLS = 20 if os.environ.get("ENOUGH_LONG_TESTS") else 2


def made_up(identity: str) -> dict[str, Any]:
    """Content follows from the id; long enough to be torn."""
    return {"id": identity, "date": None, "text": f"w1 {identity} late " * 30}


def ingest(port: int, name: str, acknowledged: list[str]) -> None:
    """Store records until the service is gone; keep what it said it has."""
    number = 0
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        while True:
            ids = [f"{name}-{number}-{i}" for i in range(1 + number % 9)]
            body = {"task": "LaMP-7", "records": [made_up(one) for one in ids]}
            try:
                response = client.post("/v1/users/ann/records", json=body)
            except httpx.TransportError:
                return
            assert response.is_success, response.text
            acknowledged += ids
            number += 1


def test_sigkill_under_load(tmp_path: Path) -> None:
    rng = random.Random(0)
    acknowledged: list[str] = []
    for kill in range(KILLS):
        port = free_port()
        with process(tmp_path, port) as service:
            before = len(acknowledged)
            clients = [
                threading.Thread(target=ingest, args=(port, f"{kill}-{c}", acknowledged))
                for c in range(4)
            ]
            for client in clients:
                client.start()
            while len(acknowledged) < before + 20:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.1))
            service.send_signal(signal.SIGKILL)
            for client in clients:
                client.join()
    path = tmp_path / "enough.sqlite"
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store = open_store(StoreConfig(str(path)))
    found = [one.id for one in everything(store, Owner("default", "LaMP-7", "ann"))]
    assert len(found) == len(set(found))
    assert set(acknowledged) <= set(found)
    for one in everything(store, Owner("default", "LaMP-7", "ann")):
        assert one.action == made_up(one.id)["text"]
    store.close()


def test_told_to_stop_it_finishes_what_is_under_way(tmp_path: Path) -> None:
    port = free_port()
    with process(tmp_path, port, 0.7) as service:
        answers: list[httpx.Response] = []

        def ask() -> None:
            asking = {"task": "LaMP-7", "input": "Paraphrase: w1", "history": [made_up("1")]}
            answers.append(
                httpx.post(f"http://127.0.0.1:{port}/v1/select", json=asking, trust_env=False)
            )

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.3)
        service.terminate()
        asking.join(20)
        assert service.wait(20) in (0, -signal.SIGTERM)
        assert answers[0].is_success, answers[0].text
    assert not list(tmp_path.glob("*-wal"))  # the last connection was closed, not dropped


def test_a_request_that_takes_too_long(tmp_path: Path) -> None:
    config = settings(tmp_path)
    config = replace(config, limits=replace(config.limits, timeout_s=0.2))
    with running(config, models(SlowEncoder(0.6))) as shop, shop.client() as client:
        asking = {"task": "LaMP-7", "input": "Paraphrase: w1", "history": [made_up("1")]}
        response = client.post("/v1/select", json=asking)
        assert (response.status_code, error_of(response)["type"]) == (504, "timeout")
        assert client.get("/v1/users").is_success


def test_a_body_that_never_ends(tmp_path: Path) -> None:
    config = settings(tmp_path)
    config = replace(config, limits=replace(config.limits, timeout_s=0.3))
    with running(config) as shop, shop.client() as client:

        def slow() -> Any:
            yield b"{"
            time.sleep(1)
            yield b"}"

        response = client.post("/v1/users/a/records", content=slow())
        assert (response.status_code, error_of(response)["type"]) == (408, "timeout")


def test_a_database_that_goes_away_and_comes_back(
    tmp_path: Path,
    server: Server,  # noqa: F811
) -> None:
    config = settings(tmp_path, store=StoreConfig(server.new_database(), wait_s=1.0))
    with running(config) as shop, shop.client() as client:
        body = {"task": "LaMP-7", "records": [made_up("1")]}
        assert client.post("/v1/users/ann/records", json=body).is_success
        erased = client.post("/v1/users/bo/records/delete", json={"task": "LaMP-7", "ids": ["1"]})
        assert erased.json() == {"deleted": 0, "scrubbed": False}
        server.stop()
        try:
            time.sleep(1.1)  # keys are remembered for a second
            away = client.get("/v1/users")
            assert (away.status_code, error_of(away)["type"]) == (503, "store_unavailable")
            assert away.headers["Retry-After"] == "1"
            assert str(server.folder) not in away.text
            assert client.get("/readyz").status_code == 503
            assert client.get("/readyz").json()["store"] is False
            assert client.get("/healthz").is_success
            with running(config) as born_without, born_without.with_key("enough-x.y") as other:
                assert other.get("/v1/users").status_code == 503
                server.start()
                until = time.monotonic() + 10
                while other.get("/readyz").status_code == 503:
                    assert time.monotonic() < until
                    time.sleep(0.1)
                assert other.get("/v1/users").status_code == 401
        finally:
            if not (server.folder / "data" / "postmaster.pid").exists():
                server.start()
        assert client.get("/readyz").is_success
        page = client.get("/v1/users/ann/records", params={"task": "LaMP-7"}).json()
        assert page["records"] == [made_up("1")]


def test_a_service_starts_while_the_database_is_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether there is a key cannot be asked yet; nobody gets in without one."""
    away = StoreConfig(f"postgresql://ann@/shop?host={tmp_path}", wait_s=1.0)
    _require_keys(settings(tmp_path, host="0.0.0.0", store=away))
    assert "whether there is an API key is not known yet" in caplog.text


def test_a_busy_database(tmp_path: Path) -> None:
    config = settings(tmp_path, store=StoreConfig(str(tmp_path / "enough.sqlite"), wait_s=0.2))
    with running(config) as shop, shop.client() as client:
        writer = sqlite3.connect(tmp_path / "enough.sqlite", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        body = {"task": "LaMP-7", "records": [made_up("1")]}
        busy = client.post("/v1/users/ann/records", json=body)
        assert (busy.status_code, error_of(busy)["type"]) == (503, "store_busy")
        writer.execute("ROLLBACK")
        writer.close()
        assert client.post("/v1/users/ann/records", json=body).is_success


def test_a_full_disk_and_then_room_again(tmp_path: Path) -> None:
    store = StoreConfig(str(tmp_path / "enough.sqlite"), connections=1)
    with running(settings(tmp_path, store=store)) as shop, shop.client() as client:
        body = {"task": "LaMP-7", "records": [made_up("1")]}
        assert client.post("/v1/users/ann/records", json=body).is_success
        database = shop.service.door.open()._database
        database.outside("PRAGMA max_page_count=60")
        many = {"task": "LaMP-7", "records": [made_up(f"2-{n}") for n in range(400)]}
        full = client.post("/v1/users/ann/records", json=many)
        assert (full.status_code, error_of(full)["type"]) == (507, "store_full")
        assert str(tmp_path) not in full.text
        page = client.get("/v1/users/ann/records", params={"task": "LaMP-7"}).json()
        assert page["records"] == [made_up("1")]  # nothing of it is half there
        asking = {"task": "LaMP-7", "input": "Paraphrase: w1", "user": "ann"}
        assert client.post("/v1/select", json=asking).is_success
        database.outside("PRAGMA max_page_count=100000")
        assert client.post("/v1/users/ann/records", json=many).is_success


class BrokenEncoder(SlowEncoder):
    """Fails for one word, with a user's text in its message."""

    def encode(self, texts: Any, kind: Any) -> Any:
        if any("poison" in text for text in texts):
            raise RuntimeError(f"cannot encode {texts}")
        return super().encode(texts, kind)


def test_an_unforeseen_error_says_nothing_of_the_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(settings(tmp_path), models(BrokenEncoder(0))) as shop, shop.client() as client:
        asking = {"task": "LaMP-7", "input": "Paraphrase: poison", "history": [made_up("1")]}
        response = client.post("/v1/select", json=asking)
        assert (response.status_code, error_of(response)["type"]) == (500, "internal")
        assert "poison" not in response.text
        assert "poison" not in caplog.text
        assert "RuntimeError at " in caplog.text
        assert client.post("/v1/select", json=asking | {"input": "Paraphrase: w1"}).is_success


def test_writers_who_wait_hold_up_no_reader(tmp_path: Path) -> None:
    store = StoreConfig(str(tmp_path / "enough.sqlite"), wait_s=3.0, connections=2)
    with running(settings(tmp_path, store=store)) as shop, shop.client() as client:
        assert client.post("/v1/users/ann/records", json=batch("1")).is_success
        other = sqlite3.connect(tmp_path / "enough.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answers: list[httpx.Response] = []

        def write(number: int) -> None:
            with shop.client() as own:
                answers.append(own.post("/v1/users/bo/records", json=batch(f"w{number}")))

        writers = [threading.Thread(target=write, args=(number,)) for number in range(6)]
        for writer in writers:
            writer.start()
        time.sleep(0.3)
        began = time.monotonic()
        asking = {"task": "LaMP-7", "input": "Paraphrase: w1", "user": "ann"}
        assert client.post("/v1/select", json=asking).is_success
        assert time.monotonic() - began < 1
        other.execute("ROLLBACK")
        other.close()
        for writer in writers:
            writer.join()
        assert [one.status_code for one in answers] == [200] * 6


def test_a_batch_under_way_does_not_keep_it_from_stopping(tmp_path: Path) -> None:
    class Slow(BagEncoder):
        """Half a second a call."""

        def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
            time.sleep(0.5)
            return super().encode(texts, kind)

    config = settings(tmp_path, shutdown_s=0)
    with running(config, models(Slow())) as shop:
        client = shop.client()
        body = {"task": "LaMP-7", "records": [made_up(str(n)) for n in range(1000)]}

        def store() -> None:
            with suppress(httpx.HTTPError):
                client.post("/v1/users/ann/records", json=body)

        storing = threading.Thread(target=store)
        storing.start()
        time.sleep(1)
        began = time.monotonic()
    assert time.monotonic() - began < 8  # all of it would take 24 s
    storing.join()
    client.close()


def test_what_is_stored_is_acknowledged_though_nothing_could_be_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise StoreFullError("no space left")

    with running(settings(tmp_path)) as shop, shop.client() as client:
        with monkeypatch.context() as patch:
            patch.setattr("enough.service.selecting.Selecting.prepare", full)
            assert client.post("/v1/users/ann/records", json=batch("1")).json()["added"] == 1
        assert "stored, but not prepared" in caplog.text
        asking = {"task": "LaMP-7", "input": "Paraphrase: w1", "user": "ann"}
        assert client.post("/v1/select", json=asking).is_success


def batch(name: str) -> dict[str, object]:
    return {"task": "LaMP-7", "records": [made_up(name)]}
