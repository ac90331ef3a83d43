"""The default encoder the way it is usually run: padded batches through transformers.

In: texts. Out: texts per second on all cores, as a measure of what a faster way of running it is
worth. Texts of like length go together, as sentence-transformers does it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from transformers import AutoModel

from enough.checkpoints import load_checkpoint
from enough.retrieval.encoders import DEFAULT_ENCODER, ENCODERS
from enough.retrieval.transformer_encoder import pool


class UsualBatches:
    """Holds the model; `seconds` encodes."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._spec = ENCODERS[DEFAULT_ENCODER]
        self._checkpoint = load_checkpoint(self._spec.source, AutoModel, "float32", "cpu")

    @torch.inference_mode()
    def seconds(self, texts: Sequence[str]) -> float:
        """How long all of them take."""
        began = time.perf_counter()
        ordered = sorted(texts, key=len, reverse=True)
        for start in range(0, len(ordered), self._rows):
            given = self._checkpoint.tokenizer(
                ordered[start : start + self._rows],
                padding=True,
                truncation=True,
                max_length=self._spec.max_length,
                return_tensors="pt",
            )
            hidden = self._checkpoint.model(**given).last_hidden_state  # [rows, longest, dim]
            pooled = pool(hidden, given["attention_mask"], self._spec.pooling)
            torch.nn.functional.normalize(pooled, dim=-1)
        return time.perf_counter() - began
