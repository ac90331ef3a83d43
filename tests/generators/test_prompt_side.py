"""Tokenizer and window of a generator, without its weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.bundled_models import bundled_folder
from enough.errors import ModelError
from enough.generators.config import DEFAULT_GENERATOR
from enough.generators.hf import HFGenerator
from enough.generators.prompt_side import load_prompt_side
from tests.retrieval.tiny import save_qwen


def test_a_folder_needs_no_weights(tmp_path: Path) -> None:
    folder = save_qwen(tmp_path / "model")
    for weights in folder.glob("*.safetensors"):
        weights.unlink()
    side = load_prompt_side(str(folder))
    assert side.window == 128
    assert len(side.tokenizer.encode("w1 w2")) == 2


def test_what_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot load the tokenizer of .*nowhere"):
        load_prompt_side(str(tmp_path / "nowhere"))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot load the tokenizer of"):
        load_prompt_side(str(tmp_path))


@pytest.mark.lm
def test_the_default_is_that_of_the_generator(default_generator: HFGenerator) -> None:
    side = load_prompt_side(DEFAULT_GENERATOR)
    assert side.tokenizer.fingerprint == default_generator.tokenizer.fingerprint
    assert side.window == default_generator.window


@pytest.mark.lm
def test_the_default_is_known_without_its_weights(
    default_generator: HFGenerator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = bundled_folder(DEFAULT_GENERATOR)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / source.name).symlink_to(source)
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path))
    for _ in range(2):  # taken out of the file, then found
        side = load_prompt_side(DEFAULT_GENERATOR)
        assert side.tokenizer.fingerprint == default_generator.tokenizer.fingerprint
        assert side.window == default_generator.window
    assert not list(tmp_path.rglob("*.safetensors"))
