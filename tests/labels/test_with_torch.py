"""Labelling with a real (tiny, random) language model: packing, rounding, worker processes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from enough.generators.config import DEFAULT_GENERATOR, GeneratorConfig
from enough.generators.weights import locate_model
from enough.labels.machine import load_generator
from enough.labels.workers import Processes
from tests.labels.runs import digest, small_config, small_run, small_stages

pytestmark = pytest.mark.lm


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    """Four thousandths of the default model, with its tokenizer."""
    import torch
    import transformers as tf

    torch.manual_seed(0)
    names = ("num_hidden_layers", "hidden_size", "intermediate_size")
    sizes = dict(zip(names, (2, 48, 64), strict=True))
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12}
    settings: Any = tf.AutoConfig.from_pretrained(locate_model(DEFAULT_GENERATOR), **sizes, **heads)
    tf.AutoModelForCausalLM.from_config(settings).save_pretrained(tmp_path / "model")
    words: Any = tf.AutoTokenizer.from_pretrained(locate_model(DEFAULT_GENERATOR))
    words.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_the_same_bytes_with_one_worker_or_two(model_folder: Path, tmp_path: Path) -> None:
    generator = GeneratorConfig(model=str(model_folder), device="cpu", dtype="float32")
    load = partial(load_generator, generator, 1)
    config = small_config()
    for name, workers in (("one", 1), ("two", 2)):
        small_run(tmp_path / name, config).run(
            partial(small_stages, config), load, Processes(workers)
        )
    assert digest(tmp_path / "one") == digest(tmp_path / "two")
