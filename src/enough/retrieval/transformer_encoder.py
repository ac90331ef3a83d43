"""A frozen bi-encoder on transformers: tokenise, forward, pool.

In: texts of any length and content. Out: float32 vectors [len(texts), dim]. A text's vector does
not depend on the other texts of the call, to the last bit (`batching`).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModel

from enough.checkpoints import Checkpoint, fingerprint, load_checkpoint
from enough.precision import Precision
from enough.protocols import Floats
from enough.retrieval.batching import (
    GPU_ROWS,
    filled,
    for_each_batch,
    one_core_threads,
    padded,
)
from enough.retrieval.bert_graph import Graph, bert_graph, fits
from enough.retrieval.encoders import EncoderSpec
from enough.retrieval.ranking import unique
from enough.retrieval.text_tokens import TextTokens

_ARITHMETIC = 2  # raise it when last bits change: a cache of other vectors is then another cache


class TransformerEncoder:
    """Implements `protocols.ThreadedEncoder`; see `EncoderSpec` for what can differ."""

    def __init__(self, checkpoint: Checkpoint, spec: EncoderSpec) -> None:
        self.spec = spec
        self._checkpoint = checkpoint
        self._dim = int(checkpoint.model.config.hidden_size)
        self._device = checkpoint.device
        self._is_on_cpu = self._device.type == "cpu"
        self._tokens = TextTokens(checkpoint.tokenizer, checkpoint.max_length(spec.max_length))
        # Equal to the module to within rounding, as a CPU is to a GPU, so the fingerprint is one.
        self._graph: Graph | None = None
        if fits(checkpoint.model):
            self._graph = bert_graph(checkpoint.model, spec.pooling, normalise=spec.normalise)
        reading = repr((replace(spec, source=""), *self._tokens.reading, _ARITHMETIC))
        identity = f"{fingerprint(checkpoint.model, checkpoint.tokenizer)}|{reading}".encode()
        self.fingerprint: str = hashlib.blake2b(identity, digest_size=16).hexdigest()

    @classmethod
    def load(
        cls, spec: EncoderSpec, device: str | None, precision: Precision
    ) -> TransformerEncoder:
        """Load the spec's checkpoint."""
        checkpoint = load_checkpoint(spec.source, AutoModel, precision, device)
        checkpoint.model.config.use_cache = False  # decoders would keep keys nobody asks for
        return cls(checkpoint, spec)

    @property
    def batch_rows(self) -> int:
        """Texts worth encoding together: on a CPU every one goes alone, one core to each."""
        return 1 if self._is_on_cpu else GPU_ROWS

    @property
    def lanes(self) -> int:
        """Threads that can encode at the same time: on a CPU one for each core."""
        return torch.get_num_threads() if self._is_on_cpu else 1

    def start_threads(self, work: Callable[[], None]) -> list[threading.Thread]:
        """Start as many to do `work`, which may call `encode_here`."""
        return one_core_threads(self.lanes, work)

    @property
    def is_symmetric(self) -> bool:
        """Whether a text has the same vector as a query and as a document."""
        return self.spec.query_template == self.spec.document_template

    @property
    def is_normalised(self) -> bool:
        """Whether vectors have length 1, so that their product is a cosine."""
        return self.spec.normalise

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        """Vectors [len(texts), dim]; equal texts get equal bits."""
        return self._encode(texts, kind, is_here=False)

    def encode_here(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        """The same bits, computed in the calling thread, one that `start_threads` started."""
        return self._encode(texts, kind, is_here=True)

    def _encode(self, texts: Sequence[str], kind: str, *, is_here: bool) -> Floats:
        template = self.spec.query_template if kind == "query" else self.spec.document_template
        distinct, places = unique([template.replace("{text}", text) for text in texts])
        vectors = np.zeros((len(distinct), self._dim), np.float32)
        rows = self._tokens.rows(distinct)

        def fill(batch: list[int]) -> None:
            vectors[batch] = self._forward([rows[i] for i in batch])

        if is_here and self._graph is not None and rows:
            fill(list(range(len(rows))))  # without a turn of Python's lock in between
        elif is_here and self._is_on_cpu:
            for place in range(len(rows)):
                fill([place])
        else:
            for_each_batch(rows, self._device, fill)
        return vectors if len(places) == len(distinct) else vectors[places]

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Sequence[int]]) -> Floats:
        if self._graph is not None:
            vectors = self._graph([torch.tensor(row) for row in rows])
            return np.array([vector.numpy() for vector in vectors], np.float32)
        filler = self._checkpoint.tokenizer.pad_token_id or 0
        ids, mask = padded(filled(rows, self._device), filler, self.spec.padding, self._device)
        output = self._checkpoint.model(input_ids=ids, attention_mask=mask)
        pooled = pool(output.last_hidden_state.float(), mask, self.spec.pooling)  # [batch, dim]
        if self.spec.normalise:
            pooled = torch.nn.functional.normalize(pooled, dim=-1)
        return np.asarray(pooled[: len(rows)].cpu().numpy(), dtype=np.float32)


def pool(hidden: Tensor, mask: Tensor, pooling: Literal["mean", "cls", "last"]) -> Tensor:
    """[batch, dim] from hidden states [batch, length, dim]; padding on either side is left out."""
    if pooling == "mean":
        weights = mask.unsqueeze(-1).to(hidden.dtype)  # [batch, length, 1]
        return (hidden * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    if pooling == "cls":
        places = mask.argmax(dim=1)  # [batch], the first real token
    else:
        places = mask.shape[1] - 1 - mask.flip(1).argmax(dim=1)
    return hidden[torch.arange(len(hidden), device=hidden.device), places]
