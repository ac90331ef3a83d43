"""Toy studies remember likelihoods and answers, too: in a folder of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENOUGH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
