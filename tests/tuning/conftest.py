"""A tiny random model on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import TinyModel
from tests.tuning.toys import save_toy


@pytest.fixture(scope="session")
def toy_model(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy(tmp_path_factory.mktemp("models") / "toy", tiny_model("llama"))
