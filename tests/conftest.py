"""Shared fixtures: small values, tiny random models, the real default model, the real data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from enough.records import Example, Record, Request
from enough.tasks import LAMP_TASKS, Task

REAL_DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    if not REAL_DATA.is_dir():
        pytest.skip(f"needs the real data in {REAL_DATA}, which is not there")
    return REAL_DATA


@pytest.fixture
def movie_task() -> Task:
    return LAMP_TASKS["LaMP-2"]


def make_record(number: int = 1, **changes: Any) -> Record:
    values: dict[str, Any] = {
        "id": f"r{number}",
        "owner": "ann",
        "context": f"A film about lighthouse keepers, part {number}.",
        "action": "twist ending",
        "date": f"2020-01-{number:02d}",
        "moment": (2020, 1, number),
    }
    return Record(**(values | changes))


def make_request(task: Task = LAMP_TASKS["LaMP-2"], **changes: Any) -> Request:
    values: dict[str, Any] = {
        "id": "q1",
        "user": "ann",
        "task": task,
        "input": "Which tag does this movie relate to among the following tags? "
        "Just answer with the tag name without further explanation. "
        "tags: [classic, twist ending] description: A keeper hides a letter.",
        "date": "2021-05-01",
        "moment": (2021, 5, 1),
    }
    return Request(**(values | changes))


def make_example(reference: str = "twist ending", **changes: Any) -> Example:
    return Example(make_request(**changes), reference)


@pytest.fixture(scope="session")
def default_generator() -> Any:
    """The real SmolLM2, loaded once for the whole session, in the precision tests rely on."""
    from enough.generators.config import GeneratorConfig
    from enough.generators.hf import HFGenerator

    return HFGenerator.load(GeneratorConfig(dtype="float32"))


TinyModel = Callable[[str], Any]


@pytest.fixture(scope="session")
def tiny_model() -> TinyModel:
    """Randomly initialised models of a few thousand weights, by architecture."""
    import torch
    import transformers as tf

    common = {
        "vocab_size": 101,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "num_hidden_layers": 3,
        "bos_token_id": None,
        "eos_token_id": 0,
        "pad_token_id": 0,
    }

    def build(name: str) -> Any:
        torch.manual_seed(7)
        model: Any
        if name == "llama":
            model = tf.LlamaForCausalLM(tf.LlamaConfig(**common))
        elif name == "qwen3":
            model = tf.Qwen3ForCausalLM(tf.Qwen3Config(head_dim=8, **common))
        else:
            layers = ["linear_attention", "full_attention", "linear_attention"]
            linear = {
                "linear_key_head_dim": 8,
                "linear_value_head_dim": 8,
                "linear_num_key_heads": 2,
                "linear_num_value_heads": 4,
            }
            model = tf.Qwen3_5ForCausalLM(
                tf.Qwen3_5TextConfig(head_dim=8, layer_types=layers, **linear, **common)
            )
        return model.eval()

    return build
