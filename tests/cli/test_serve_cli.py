"""`enough keys`, `enough scrub`, and what `enough serve` refuses."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from enough.cli import app
from enough.data.logs import read_histories
from enough.errors import AccessError, ConfigError, DataError, ModelError, UnknownNameError
from enough.moment import parse_moment
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.values import Owner, Scope
from tests.store.things import TASK, embedder, record


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = str(tmp_path / "keys.sqlite")
    monkeypatch.setenv("ENOUGH_SERVE__STORE__DATABASE", path)
    return path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_keys(database: str) -> None:
    secret = run(
        "keys", "create", "--tenant", "shop", "--scope", "read", "--scope", "select"
    ).strip()
    made = json.loads(run("keys", "create", "--tenant", "shop", "--scope", "admin", "--json"))
    store = open_store(StoreConfig(database))
    key = store.keys.check(secret)
    assert (key.tenant, set(key.scopes)) == ("shop", {Scope.READ, Scope.SELECT})
    assert store.keys.check(made["secret"]).scopes == {Scope.ADMIN}
    assert [one["id"] for one in json.loads(run("keys", "list", "--tenant", "shop", "--json"))] == [
        key.id,
        made["id"],
    ]
    assert run("keys", "revoke", secret, "--tenant", "shop") == "revoked\n"
    with pytest.raises(AccessError):
        store.keys.check(secret)
    shown = run("keys", "list", "--tenant", "shop")
    assert f"{key.id}  read,select" in shown and "revoked" in shown and "good" in shown
    assert secret.partition(".")[2] not in shown
    with pytest.raises(DataError, match="no good key"):
        run("keys", "revoke", key.id, "--tenant", "shop")
    with pytest.raises(UnknownNameError, match="did you mean 'read'"):
        run("keys", "create", "--tenant", "shop", "--scope", "reed")
    assert run("scrub") == "scrubbed\n"
    store.close()


def test_the_store_as_a_log(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pages in ("_OWNERS", "_RECORDS"):
        monkeypatch.setattr(f"enough.store.exporting.{pages}", 2)
    with closing(open_store(StoreConfig(database))) as store:
        for tenant in ("shop", "other"):
            for user, count in (("ann", 7), ("bob", 2)):
                kept = [
                    record(n, owner=user, date=f"2024-01-{20 - n:02}", context=f"{tenant} {n}")
                    for n in range(count)
                ]
                dated = [replace(one, moment=parse_moment(one.date)) for one in kept]
                store.append(Owner(tenant, TASK.name, user), dated, embedder())
        store.append(Owner("shop", "LaMP-7", "ann"), [record(99)], embedder())
    out = tmp_path / "LaMP_2"
    assert run("export", "lamp2", str(out), "--tenant", "shop") == f"{out}: 2 users, 9 records\n"
    found = read_histories(out)
    assert [one.id for one in found.histories["ann"]] == [f"r{n}" for n in reversed(range(7))]
    assert {one.context.split()[0] for one in found.histories["ann"]} == {"shop"}
    with pytest.raises(DataError, match="is there already"):
        run("export", "lamp2", str(out), "--tenant", "shop")
    with pytest.raises(DataError, match="tenant 'shop' has no record of LaMP-3"):
        run("export", "LaMP-3", str(tmp_path / "none"), "--tenant", "shop")
    with pytest.raises(UnknownNameError, match="did you mean 'LaMP-2'"):
        run("export", "LaMP-22", str(tmp_path / "none"), "--tenant", "shop")


def test_serve_refuses_what_would_be_open(database: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no API key yet"):
        run("serve", "--host", "0.0.0.0")
    file = tmp_path / "serve.toml"
    file.write_text("open = true\n")
    with pytest.raises(ConfigError, match="anybody who reaches"):
        run("serve", "--config", str(file), "--host", "0.0.0.0")
    file.write_text('open = true\nuntrained = {}\n[upstream]\nurl = "http://h/v1"\nmodel = "m"\n')
    with file.open("a") as more:
        more.write('key_variable = "NOT_SET_ANYWHERE"\n[generator]\nmodel = "no/such/folder"\n')
    with pytest.raises(ModelError, match="no/such/folder"):
        run("serve", "--config", str(file), "--port", "0")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            ConfigError, match=f"cannot listen on 127.0.0.1:{port}: Address already"
        ):
            run("serve", "--config", str(file), "--port", str(port))
    file.write_text("opne = true\n")
    with pytest.raises((ConfigError, UnknownNameError), match="opne"):
        run("serve", "--config", str(file))
