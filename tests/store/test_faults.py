"""What goes wrong has a name, says what to do, and never shows a user's words."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from enough.errors import (
    ConfigError,
    MissingExtraError,
    StoreBusyError,
    StoreError,
    StoreFormatError,
    StoreFullError,
    StoreUnavailableError,
)
from enough.store.config import StoreConfig
from enough.store.faults import Translated
from enough.store.opening import open_store
from enough.store.sql_store import SqlStore
from enough.store.tables import VERSION_TABLE
from tests.store.server import Server
from tests.store.things import ANN, embedder, everything, record, records


def test_a_writer_that_does_not_let_go(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path), wait_s=0.1))
    store.append(ANN, records(2), embedder())
    other = sqlite3.connect(sqlite_path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError, match=r"enough\.sqlite: another writer.*try again"):
        store.append(ANN, [record(7)], embedder())
    assert everything(store, ANN) == records(2)  # readers do not wait
    other.execute("ROLLBACK")
    assert store.append(ANN, [record(7)], embedder()) == 1
    other.close()
    store.close()


def test_a_full_disk_and_then_room_again(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path), connections=1))
    store.append(ANN, records(2), embedder())
    store._database.outside("PRAGMA max_page_count=60")
    with pytest.raises(StoreFullError, match=r"disk is full; make room") as caught:
        store.append(ANN, records(2000, start=10), embedder())
    assert "tag" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert everything(store, ANN) == records(2)
    store._database.outside("PRAGMA max_page_count=100000")
    assert store.append(ANN, records(2000, start=10), embedder()) == 2000
    store.close()


def test_all_connections_in_use(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path), connections=1, wait_s=0.1))
    with store._database.reading(), pytest.raises(StoreBusyError, match="connections are in use"):
        store.count(ANN)
    store.close()


def test_files_that_are_no_store(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear database, " * 1000)
    with pytest.raises(StoreFormatError, match=r"letter\.txt: this is not a store's database"):
        open_store(StoreConfig(str(letter)))
    assert letter.read_text().startswith("Dear database")
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).execute("CREATE TABLE songs (name)").connection.close()
    with pytest.raises(StoreFormatError, match="of something else"):
        open_store(StoreConfig(str(other)))
    with pytest.raises(StoreUnavailableError, match="cannot be opened"):
        open_store(StoreConfig(str(tmp_path)))
    with pytest.raises(StoreUnavailableError, match="name another file"):
        open_store(StoreConfig(str(letter / "enough.sqlite")))
    with pytest.raises(ConfigError, match="a file or a URL"):
        open_store(StoreConfig("mysql://root:hidden@host/db"))


def test_a_damaged_file(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path)))
    store.append(ANN, records(300), embedder())
    store.scrub()
    store.close()
    content = bytearray(sqlite_path.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    sqlite_path.write_bytes(content)
    with pytest.raises(StoreError, match="restore a backup"):
        everything(open_store(StoreConfig(str(sqlite_path))), ANN)


def test_tables_of_a_newer_version(store: SqlStore, database: str) -> None:
    with store._database.writing() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(StoreFormatError, match=r"newer version.*'9999'.*'0001'.*upgrade enough"):
        open_store(StoreConfig(database))


def test_the_server_goes_away_and_comes_back(server: Server) -> None:
    store = open_store(StoreConfig(server.new_database(), wait_s=2.0))
    store.append(ANN, records(2), embedder())
    server.stop()
    try:
        with pytest.raises(StoreUnavailableError, match="is it running"):
            store.count(ANN)
        with pytest.raises(StoreUnavailableError):
            store.append(ANN, records(4), embedder())
    finally:
        server.start()
    assert store.append(ANN, records(4), embedder()) == 2
    assert everything(store, ANN) == records(4)
    server.stop()
    server.start()  # nobody asked meanwhile, so nobody knows
    assert store.count(ANN) == 4
    store.close()


def test_a_connection_that_breaks_in_the_middle(server: Server) -> None:
    store = open_store(StoreConfig(server.new_database(), wait_s=2.0))
    engine = store._database.engine

    def cut(_c: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO enough_place"):
            cursor.connection.pgconn.finish()

    event.listen(engine, "before_cursor_execute", cut)
    with pytest.raises(StoreUnavailableError):
        store.append(ANN, records(2), embedder())
    event.remove(engine, "before_cursor_execute", cut)
    assert store.count(ANN) == 0
    assert store.append(ANN, records(2), embedder()) == 2
    store.close()


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError) as caught:
        open_store(StoreConfig(f"postgresql://ann:hidden@/shop?host={tmp_path}", wait_s=2.0))
    assert "hidden" not in str(caught.value)
    assert "is it running" in str(caught.value)
    with pytest.raises(ConfigError) as wrong:
        open_store(StoreConfig("postgresql://ann:hidden@host:port:port/x"))
    assert "hidden" not in str(wrong.value)


def test_a_database_that_does_not_exist(server: Server) -> None:
    server.new_database()
    url = f"postgresql://enough@/nothing?host={server.folder}"
    with pytest.raises(StoreUnavailableError):
        open_store(StoreConfig(url, wait_s=2.0))


class Said(Exception):
    """As PostgreSQL's driver complains."""

    def __init__(self, sqlstate: str | None) -> None:
        super().__init__("value: a user's words")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("state", "kind", "advice"),
    [
        ("53100", StoreFullError, "disk is full"),
        ("53300", StoreUnavailableError, "out of connections"),
        ("55P03", StoreBusyError, "try again"),
        ("40P01", StoreBusyError, "try again"),
        ("57P01", StoreUnavailableError, "going down"),
        ("42501", StoreUnavailableError, "grant"),
        ("28P01", StoreUnavailableError, "check the URL"),
        ("3D000", StoreUnavailableError, "create it"),
        ("XX001", StoreFormatError, "restore a backup"),
        ("22012", StoreError, "server's log"),
        (None, StoreUnavailableError, "is it running"),
    ],
)
def test_what_a_server_says(state: str | None, kind: type[StoreError], advice: str) -> None:
    with pytest.raises(StoreError, match=advice) as caught, Translated("shop", Said):
        raise OperationalError("INSERT", {"x": "a user's words"}, Said(state))
    assert type(caught.value) is kind
    assert "words" not in str(caught.value)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(sys.modules):
        if name.startswith(("enough.store.sql_store", "enough.store.database")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingExtraError, match=r"enough\[serve\]"):
        open_store(StoreConfig(str(tmp_path / "x.sqlite")))


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"store\.wait_s"):
        StoreConfig(wait_s=0)
    with pytest.raises(ConfigError, match=r"store\.connections"):
        StoreConfig(connections=0)
