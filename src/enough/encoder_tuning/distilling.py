"""Distilling what records are worth into likeness: the loss, and a batch's way to it.

In: an encoder that can be trained, and lessons. Out: one number to descend. A record's score is
a_τ · cos(q, r) + b_τ, that of no record is 0; over {no record, r_1, ..., r_n} the softmax of the
scores shall be the softmax of {0, g(r_1), ..., g(r_n)} / T. Because no record is one of them, a
likeness says by itself, without the rest of the pool, whether a record is worth having.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from enough.encoder_tuning.lessons import Lesson
from enough.retrieval.encoders import EncoderSpec
from enough.retrieval.ranking import unique
from enough.retrieval.text_tokens import TextTokens
from enough.retrieval.transformer_encoder import pool

_STEEP, _APART = 10.0, -5.0  # a and b before anything is learnt: no record where the cosine is .5


class Reader(nn.Module):
    """An encoder in training, and how its cosines are read, task by task."""

    def __init__(self, model: Any, tokenizer: Any, spec: EncoderSpec, tasks: Sequence[str]) -> None:
        super().__init__()
        self.model = model
        self.spec = spec
        self.steepness = nn.Parameter(torch.full((len(tasks),), _STEEP))
        self.offset = nn.Parameter(torch.full((len(tasks),), _APART))
        self._tasks = {name: number for number, name in enumerate(tasks)}
        self._tokens = TextTokens(tokenizer, spec.max_length)
        self._filler = tokenizer.pad_token_id or 0

    def directions(self, texts: Sequence[str], together: int) -> Tensor:
        """Unit vectors [len(texts), dim], `together` at a time, like lengths beside each other."""
        rows = self._tokens.rows(texts)
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        parts = [
            self._forward([rows[place] for place in order[start : start + together]])
            for start in range(0, len(order), together)
        ]
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(parts)[back.to(parts[0].device)]

    def likeness(self, lessons: Sequence[Lesson], together: int) -> list[Tensor]:
        """Cosines of each lesson's records with its query; every text is read once."""
        spec = self.spec
        asked = [spec.query_template.replace("{text}", one.query) for one in lessons]
        told = [spec.document_template.replace("{text}", r) for one in lessons for r in one.records]
        texts, places = unique([*asked, *told])
        vectors = self.directions(texts, together)[torch.tensor(places, device=self.device)]
        queries, records = vectors[: len(asked)], vectors[len(asked) :]
        sizes = [len(one.records) for one in lessons]
        parts = torch.split(records, sizes)
        return [found @ query for query, found in zip(queries, parts, strict=True)]

    def loss(self, lessons: Sequence[Lesson], temperature: float, together: int) -> Tensor:
        """Mean over lessons of the cross-entropy, []."""
        losses = []
        for one, cosines in zip(lessons, self.likeness(lessons, together), strict=True):
            task = self._tasks[one.task]
            scores = self.steepness[task] * cosines.float() + self.offset[task]
            gains = torch.from_numpy(one.gains).to(self.device)
            losses.append(worth_loss(scores, gains, temperature))
        return torch.stack(losses).mean()

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.steepness.device

    def _forward(self, rows: Sequence[Sequence[int]]) -> Tensor:
        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self._filler)
        mask = torch.zeros((len(rows), longest), dtype=torch.long)
        for place, row in enumerate(rows):
            inside = slice(0, len(row)) if self.spec.padding == "right" else slice(-len(row), None)
            ids[place, inside] = torch.tensor(row)
            mask[place, inside] = 1
        ids, mask = ids.to(self.device), mask.to(self.device)
        hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        vectors = pool(hidden.float(), mask, self.spec.pooling)
        return nn.functional.normalize(vectors, dim=-1)


def worth_loss(scores: Tensor, gains: Tensor, temperature: float) -> Tensor:
    """−Σ softmax([0, gains] / T) · log softmax([0, scores]), over no record and n records, []."""
    nothing = scores.new_zeros(1)
    target = torch.softmax(torch.cat([nothing, gains]) / temperature, dim=0)
    return -(target * torch.log_softmax(torch.cat([nothing, scores]), dim=0)).sum()
