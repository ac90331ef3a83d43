"""Generators around tiny random models, with a tokenizer that writes every id as one word."""

from __future__ import annotations

from typing import Any

from enough.generators.hf import HFGenerator

ARCHITECTURES = ("llama", "qwen3", "qwen3_5")


def tiny_generator(model: Any) -> HFGenerator:
    """Token i is the word "wi"; 0 ends an answer."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {f"w{i}": i for i in range(1, model.config.vocab_size)} | {"<end>": 0}
    backend = Tokenizer(models.WordLevel(words, unk_token="<end>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>")
    return HFGenerator(model, tokenizer)
