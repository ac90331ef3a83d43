"""Distilling what records are worth into likeness: the loss, and a batch's way to it.

In: an encoder that can be trained, and lessons. Out: one number to descend. A record's score is
a_τ · cos(q, r) + b_τ, that of no record is 0; over {no record, r_1, ..., r_n} the softmax of the
scores shall be the softmax of {0, g(r_1), ..., g(r_n)} / T. Because no record is one of them, a
likeness says by itself, without the rest of the pool, whether a record is worth having.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.checkpoint import checkpoint

from enough.encoder_tuning.lessons import Lesson
from enough.retrieval.encoders import EncoderSpec
from enough.retrieval.ranking import unique
from enough.retrieval.text_tokens import TextTokens
from enough.retrieval.transformer_encoder import pool

_LESSONS = 128  # read together where nothing is learnt
_STEEP, _APART = 10.0, -5.0  # a and b before anything is learnt: no record where the cosine is .5


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Lessons side by side, filled up to the longest.

    Attributes:
        tasks: number of each one's task, [b].
        cosines: of its records with its query, [b, n].
        gains: of the same, [b, n].
        counts: how many records it has, [b].
    """

    tasks: Tensor
    cosines: Tensor
    gains: Tensor
    counts: Tensor


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
        self._rows: dict[str, NDArray[np.int64]] = {}  # every epoch reads the same texts
        self._filler = tokenizer.pad_token_id or 0

    def directions(self, texts: Sequence[str], together: int) -> Tensor:
        """Unit vectors [len(texts), dim], `together` at a time, like lengths beside each other."""
        rows = self._tokenised(texts)
        order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        portions = [
            [rows[place] for place in order[start : start + together]]
            for start in range(0, len(order), together)
        ]
        # Of several, each is computed again on the way back: or all would be kept in memory.
        is_once = len(portions) == 1 or not torch.is_grad_enabled()
        parts = [
            self._forward(one) if is_once else checkpoint(self._forward, one, use_reentrant=False)
            for one in portions
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
        counts = [len(one.records) for one in lessons]
        sizes = torch.tensor(counts, device=self.device)
        asked_by_each = queries.repeat_interleave(sizes, dim=0, output_size=len(records))
        # Not a matrix product, which half precision would round more coarsely than gains are.
        return list(torch.split((records * asked_by_each).sum(-1), counts))

    def loss(self, lessons: Sequence[Lesson], temperature: float, together: int) -> Tensor:
        """Mean over lessons of the cross-entropy, []."""
        return self.loss_of(lessons, self.likeness(lessons, together), temperature)

    def loss_of(
        self, lessons: Sequence[Lesson], cosines: Sequence[Tensor], temperature: float
    ) -> Tensor:
        """The same of cosines that are known, [len(records)] for each lesson."""
        return self.loss_of_rows(self.rows_of(lessons, cosines), temperature)

    def rows_of(self, lessons: Sequence[Lesson], cosines: Sequence[Tensor]) -> Rows:
        """Lessons and their cosines side by side."""
        gains = [torch.from_numpy(one.gains) for one in lessons]
        return Rows(
            tasks=torch.tensor([self._tasks[one.task] for one in lessons], device=self.device),
            cosines=pad_sequence([one.float() for one in cosines], batch_first=True),
            gains=pad_sequence(gains, batch_first=True).to(self.device),
            counts=torch.tensor([len(one.gains) for one in lessons], device=self.device),
        )

    def loss_of_rows(self, rows: Rows, temperature: float) -> Tensor:
        """Mean over lessons of the cross-entropy, []."""
        scores = self.steepness[rows.tasks, None] * rows.cosines + self.offset[rows.tasks, None]
        return worth_loss(scores, rows.gains, rows.counts, temperature).mean()

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.steepness.device

    def _tokenised(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        missing = [text for text in texts if text not in self._rows]
        for text, row in zip(missing, self._tokens.rows(missing), strict=True):
            self._rows[text] = np.array(row, np.int64)
        return [self._rows[text] for text in texts]

    def _forward(self, rows: Sequence[NDArray[np.int64]]) -> Tensor:
        longest = max(map(len, rows))
        ids = np.full((len(rows), longest), self._filler, np.int64)
        mask = np.zeros((len(rows), longest), np.int64)
        for place, row in enumerate(rows):
            inside = slice(0, len(row)) if self.spec.padding == "right" else slice(-len(row), None)
            ids[place, inside] = row
            mask[place, inside] = 1
        is_read = torch.from_numpy(mask).to(self.device)
        given = torch.from_numpy(ids).to(self.device)
        hidden = self.model(input_ids=given, attention_mask=is_read).last_hidden_state
        vectors = pool(hidden.float(), is_read, self.spec.pooling)
        return nn.functional.normalize(vectors, dim=-1)


@torch.no_grad()
def likenesses(reader: Reader, lessons: Sequence[Lesson], together: int) -> list[Tensor]:
    """Cosines of every lesson's records with its query, lessons beside each other read together."""
    reader.eval()
    starts = range(0, len(lessons), _LESSONS)
    blocks = (lessons[start : start + _LESSONS] for start in starts)
    return [found for some in blocks for found in reader.likeness(some, together)]


def worth_loss(scores: Tensor, gains: Tensor, counts: Tensor, temperature: float) -> Tensor:
    """−Σ softmax([0, gains] / T) · log softmax([0, scores]) of each lesson, [b].

    Args:
        scores: of the records of b lessons, [b, n]; what is beyond a lesson's own does not count.
        gains: of the same, [b, n].
        counts: how many records each lesson has, [b].
        temperature: T.
    """
    beyond = torch.arange(scores.shape[1], device=scores.device) >= counts[:, None]
    filled = [one.masked_fill(beyond, -torch.inf) for one in (gains / temperature, scores)]
    nothing = scores.new_zeros(len(scores), 1)
    target, found = (torch.cat([nothing, one], dim=1).log_softmax(dim=1) for one in filled)
    is_there = torch.cat([torch.ones_like(counts[:, None], dtype=torch.bool), ~beyond], dim=1)
    return -(target.exp() * found.where(is_there, found.new_zeros(()))).sum(dim=1)
