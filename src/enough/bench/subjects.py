"""Models to measure: a real one, or an architecture with random weights."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from enough.generators.config import DtypeName, GeneratorConfig
from enough.generators.hf import HFGenerator, fast_dtype
from enough.generators.packed import PackedScorer


def bench_generator(
    model: str, random_weights: Path | None, dtype: DtypeName, max_tokens: int
) -> HFGenerator:
    """The generator to measure, its tree scorer with packs of `max_tokens`."""
    if random_weights is None:
        generator = HFGenerator.load(GeneratorConfig(model=model, dtype=dtype))
    else:
        generator = _random(random_weights, dtype)
    if isinstance(generator.scorer, PackedScorer):
        generator.scorer = PackedScorer(generator.lm, max_tokens)
    return generator


def _random(folder: Path, dtype: DtypeName) -> HFGenerator:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    precision = fast_dtype(device) if dtype == "auto" else getattr(torch, dtype)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(
            AutoConfig.from_pretrained(folder), dtype=precision
        )
    return HFGenerator(model, AutoTokenizer.from_pretrained(folder))
