"""A running service for each test module that wants one, and clients for it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from enough.generators.fake import FakeGenerator
from enough.service.machinery import Models
from tests.online.stand_ins import random_controller
from tests.retrieval.tiny import BagEncoder
from tests.service.running import Running, SafeTokenizer, running, settings


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Shared by a module; every test uses users of its own."""
    with running(settings(tmp_path_factory.mktemp("service"))) as one:
        yield one


@pytest.fixture
def client(shop: Running) -> Iterator[httpx.Client]:
    with shop.client() as one:
        yield one


@pytest.fixture(scope="module")
def answering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One that has a generator, too."""
    generator = FakeGenerator()
    generator.tokenizer = SafeTokenizer()
    loaded = Models(BagEncoder(), generator.tokenizer, 2000, random_controller("", ""), generator)
    with running(settings(tmp_path_factory.mktemp("answers")), loaded) as one:
        yield one
