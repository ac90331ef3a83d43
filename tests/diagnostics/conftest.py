"""Toy studies remember likelihoods and answers, too: in a folder of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from enough.diagnostics.laboratory import Laboratory
from tests.diagnostics.toy import toy_laboratory


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENOUGH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, own_cache: None) -> Laboratory:
    """One toy study for all tests of a module."""
    return toy_laboratory(tmp_path_factory.mktemp("study"))
