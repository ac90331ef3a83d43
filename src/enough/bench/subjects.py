"""Models to measure: a real one, or an architecture with random weights."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from enough.generators.config import DEFAULT_GENERATOR, GeneratorConfig
from enough.generators.hf import HFGenerator
from enough.generators.weights import locate_model
from enough.precision import Precision, choose_dtype


def bench_generator(model: str, random_weights: Path | None, dtype: Precision) -> HFGenerator:
    """The generator to measure."""
    if random_weights is None:
        return HFGenerator.load(GeneratorConfig(model=model, dtype=dtype))
    return _random(random_weights, dtype)


def _random(folder: Path, dtype: Precision) -> HFGenerator:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    precision = getattr(torch, choose_dtype(dtype, device))
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(
            AutoConfig.from_pretrained(folder), dtype=precision
        )
    own = (folder / "tokenizer.json").is_file()
    words = folder if own else locate_model(DEFAULT_GENERATOR)
    return HFGenerator(model, AutoTokenizer.from_pretrained(words))
