"""ColBERTv2: every token has a vector, and each query token counts with its best record token.

In: a request and a history. Out: the pool by MaxSim. A user has few records, so all of their token
vectors are compared in memory and no index is built.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import BertModel, BertPreTrainedModel

from enough.checkpoints import Checkpoint, load_checkpoint
from enough.errors import ConfigError, ModelError
from enough.precision import Precision
from enough.records import History, Pool, Request
from enough.retrieval.batching import filled, for_each_batch, padded
from enough.retrieval.ranking import best_first, retrieval_texts, unique
from enough.retrieval.recently_used import RecentlyUsed
from enough.retrieval.text_tokens import TextTokens

COLBERT_V2 = "colbert-ir/colbertv2.0"
_DIM = 128
_NUMBERS_IN_MEMORY = 64_000_000  # 256 MB, some 4,000 records of 120 tokens


class ColbertModel(BertPreTrainedModel):  # type: ignore[misc]  # transformers is not typed
    """BERT and a projection without bias; the names of its parts are those in the checkpoint."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.linear = torch.nn.Linear(config.hidden_size, getattr(config, "dim", _DIM), bias=False)
        self.post_init()

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Unit vectors [batch, length, dim] of token ids [batch, length]."""
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        return torch.nn.functional.normalize(self.linear(hidden).float(), dim=-1)


@dataclass(frozen=True, slots=True)
class ColbertLengths:
    """Token limits, markers included.

    The authors' 32 query tokens cut most LaMP inputs short, hence 128. Queries are always filled up
    to it with [MASK], whose vectors count as soft extra words.
    """

    query: int = 128
    document: int = 220

    def __post_init__(self) -> None:
        if min(self.query, self.document) < 4:
            raise ConfigError("ColBERT needs room for [CLS], a marker, a token and [SEP]: 4 tokens")


class LateInteractionRetriever:
    """Ranks by the sum over query tokens of the highest cosine with a token of the record."""

    def __init__(self, checkpoint: Checkpoint, lengths: ColbertLengths | None = None) -> None:
        self._checkpoint = checkpoint
        wanted = lengths or ColbertLengths()
        self._query_length = checkpoint.max_length(wanted.query)
        # The marker takes the place of a token.
        self._query_tokens = TextTokens(checkpoint.tokenizer, self._query_length - 1)
        length = checkpoint.max_length(wanted.document)
        self._document_tokens = TextTokens(checkpoint.tokenizer, length - 1)
        self._query_marker, self._document_marker = self._ids("[unused0]", "[unused1]")
        vocabulary = checkpoint.tokenizer.get_vocab()
        self._ignored = {vocabulary[mark] for mark in string.punctuation if mark in vocabulary}
        self._memory: RecentlyUsed[str, Tensor] = RecentlyUsed(_NUMBERS_IN_MEMORY)

    @classmethod
    def load(
        cls,
        source: str = COLBERT_V2,
        device: str | None = None,
        lengths: ColbertLengths | None = None,
        precision: Precision = "auto",
    ) -> LateInteractionRetriever:
        """Load a ColBERT checkpoint from a folder or the hub."""
        return cls(load_checkpoint(source, ColbertModel, precision, device), lengths)

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        """The records that answer most of the query's tokens well."""
        if not history:
            return ()
        query = self.query_vectors(request.query)
        texts, places = unique(retrieval_texts(request.task, history))
        distinct = [max_sim(query, record) for record in self.document_vectors(texts)]
        return best_first(history, [distinct[place] for place in places], limit)

    @torch.inference_mode()
    def query_vectors(self, text: str) -> Tensor:
        """[query length, dim], all of them counting."""
        (row,) = _marked(self._query_tokens, [text], self._query_marker)
        (filler,) = self._ids("[MASK]")
        # [MASK] tokens look at the query, but the query does not look at them.
        missing = self._query_length - len(row)
        ids, _ = padded([row + [filler] * missing], filler, "right", self._checkpoint.device)
        mask = torch.zeros_like(ids)
        mask[:, : len(row)] = 1
        vectors: Tensor = self._checkpoint.model(ids, mask)[0]
        return vectors

    def document_vectors(self, texts: Sequence[str]) -> list[Tensor]:
        """Per text [tokens, dim] without punctuation; kept in memory for the next request."""
        found = {text: held for text in texts if (held := self._memory.get(text)) is not None}
        missing = [text for text in texts if text not in found]
        rows = _marked(self._document_tokens, missing, self._document_marker)

        def fill(batch: list[int]) -> None:
            vectors = self._document_batch([rows[i] for i in batch])
            for place, vector in zip(batch, vectors, strict=True):
                found[missing[place]] = vector
                self._memory.put(missing[place], vector, vector.numel())

        for_each_batch(rows, self._checkpoint.device, fill)
        return [found[text] for text in texts]

    @torch.inference_mode()
    def _document_batch(self, rows: Sequence[Sequence[int]]) -> list[Tensor]:
        device = self._checkpoint.device
        filler = self._checkpoint.tokenizer.pad_token_id
        ids, mask = padded(filled(rows, device), filler, "right", device)
        vectors = self._checkpoint.model(ids, mask)  # [batch, length, dim]
        kept = [[i for i, token in enumerate(row) if token not in self._ignored] for row in rows]
        return [vectors[b, places] for b, places in enumerate(kept)]

    def _ids(self, *tokens: str) -> list[int]:
        vocabulary = self._checkpoint.tokenizer.get_vocab()
        for token in tokens:
            if token not in vocabulary:
                raise ModelError(f"this is no ColBERT checkpoint: its vocabulary has no {token}")
        return [vocabulary[token] for token in tokens]


def _marked(tokens: TextTokens, texts: Sequence[str], marker: int) -> list[list[int]]:
    """[CLS] marker text [SEP]."""
    return [[row[0], marker, *row[1:]] for row in tokens.rows(texts)]


def max_sim(query: Tensor, document: Tensor) -> float:
    """Σ over query rows of the highest dot product; query [q, dim], document [d, dim]."""
    return float((query @ document.T).amax(dim=1).sum())
