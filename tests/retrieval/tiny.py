"""Tiny stand-ins: a bag-of-words encoder without weights, and random checkpoints on disk."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from enough.protocols import Floats

WORDS = [f"w{i}" for i in range(40)]


class BagEncoder:
    """Counts words in 64 buckets; keeps a list of all it was asked to embed."""

    def __init__(self, fingerprint: str = "bag") -> None:
        self.fingerprint = fingerprint
        self.seen: list[str] = []
        self.calls = 0

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        self.calls += bool(texts)
        self.seen.extend(texts)
        vectors = np.zeros((len(texts), 64), np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                vectors[row, zlib.crc32(word.encode("utf-8", "replace")) % 64] += 1
        return vectors


def save_tokenizer(folder: Path, before: str = "[CLS]", after: str = "[SEP]") -> Any:
    """One token per word or punctuation mark, with special tokens around a text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: i for i, word in enumerate([*special, *",.!?[]:", *WORDS])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    around = [token for token in (before, after) if token]
    if around:
        backend.post_processor = processors.TemplateProcessing(
            single=f"{before} $A {after}".strip(),
            special_tokens=[(token, vocabulary[token]) for token in around],
        )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        mask_token="[MASK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        eos_token="[SEP]",
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def bert_config(**changes: Any) -> Any:
    from transformers import BertConfig

    values = {
        "vocab_size": 60,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 64,
        "initializer_range": 0.5,  # so that differences are far above rounding
    }
    return BertConfig(**(values | changes))


def save_bert(folder: Path, seed: int = 0) -> Path:
    import torch
    from transformers import BertModel

    torch.manual_seed(seed)
    save_tokenizer(folder)
    BertModel(bert_config()).save_pretrained(folder)
    return folder


def save_qwen(folder: Path) -> Path:
    import torch
    from transformers import Qwen3Config, Qwen3Model

    torch.manual_seed(0)
    save_tokenizer(folder, before="", after="[SEP]")
    config = Qwen3Config(
        vocab_size=60,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        intermediate_size=32,
        max_position_embeddings=128,
        initializer_range=0.5,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=5,
    )
    Qwen3Model(config).save_pretrained(folder)
    return folder


def save_colbert(folder: Path, dim: int = 8) -> Path:
    import torch

    from enough.retrieval.late_interaction import ColbertModel

    torch.manual_seed(0)
    save_tokenizer(folder)
    ColbertModel(bert_config(dim=dim, max_position_embeddings=256)).save_pretrained(folder)
    return folder
