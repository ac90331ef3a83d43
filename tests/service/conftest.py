"""A running service for each test module that wants one, and clients for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.service.running import Running, running, settings


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Shared by a module; every test uses users of its own."""
    with running(settings(tmp_path_factory.mktemp("service"))) as one:
        yield one


@pytest.fixture
def client(shop: Running) -> Iterator[httpx.Client]:
    with shop.client() as one:
        yield one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
