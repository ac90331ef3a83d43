"""A store on each database, and the things that are put into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.sql_store import SqlStore
from tests.store.server import Server, started


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = started()
    yield running
    running.remove()


OpenStore = Callable[[], SqlStore]


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "enough.sqlite"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """Where an empty database is."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite_path"))
    running: Server = request.getfixturevalue("server")
    return running.new_database()


@pytest.fixture
def opened(database: str) -> Iterator[OpenStore]:
    """Opens it, as often as wanted: every time as another process would."""
    stores: list[SqlStore] = []

    def make() -> SqlStore:
        stores.append(open_store(StoreConfig(database, wait_s=5.0)))
        return stores[-1]

    yield make
    for one in stores:
        one.close()


@pytest.fixture
def store(opened: OpenStore) -> SqlStore:
    return opened()
