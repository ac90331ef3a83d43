"""A retriever that is trained on frozen vectors: two towers, each x + Wx + b, and a dot product.

In: rated lessons and a frozen encoder, later requests and histories. Out: score(x, d) =
(q + Aq + a) · (r + Br + b) / T, and a `protocols.Retriever` that ranks by it. Both towers start at
zero, so that the untrained retriever is the frozen encoder; there is nothing random in it. The
sources fine-tune the whole encoder; here it is frozen and cached, see `fitting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from enough.baselines.feedback import Rated
from enough.baselines.method_files import Weights
from enough.errors import ModelError
from enough.protocols import Encoder
from enough.records import History, Pool, Request
from enough.retrieval.ranking import best_first, embed_all, retrieval_texts, unique

PARAMETERS = ("query.weight", "query.bias", "record.weight", "record.bias")


class Towers(nn.Module):
    """The scores while they are trained."""

    def __init__(self, dim: int, temperature: float) -> None:
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.record = nn.Linear(dim, dim)
        self.temperature = temperature
        for parameter in self.parameters():
            nn.init.zeros_(parameter)

    def forward(self, queries: Tensor, records: Tensor) -> Tensor:
        """Scores [b, n] of records [b, n, dim] for queries [b, dim]."""
        searched = queries + self.query(queries)
        found = records + self.record(records)
        return torch.einsum("bd,bnd->bn", searched, found) / self.temperature


class TrainedRetriever:
    """Ranks a legal history by trained towers. Implements `protocols.Retriever`."""

    def __init__(
        self, weights: Weights, encoder: Encoder, temperature: float, prefix: str = ""
    ) -> None:
        try:
            self._a_w, self._a_b, self._b_w, self._b_b = (
                weights[f"{prefix}{name}"] for name in PARAMETERS
            )
        except KeyError as error:
            raise ModelError(f"a trained retriever lacks its weights {error}; train it") from None
        self._encoder = encoder
        self._temperature = temperature

    def prepare(self, requests: Sequence[Request], histories: Sequence[History]) -> None:
        """Embed everything in large batches."""
        embed_all(self._encoder, requests, histories)

    def retrieve(self, request: Request, history: History, limit: int) -> Pool:
        """The records with the highest scores."""
        if not history:
            return ()
        query = self._encoder.encode([request.query], "query")[0]
        records = self._encoder.encode(retrieval_texts(request.task, history), "document")
        # u · (r + Br + b) = (u + Bᵀu) · r + u · b: only one vector has to be mapped. Not a matrix
        # product over records: there the last bits of a row depend on its place, and ties break.
        searched = query + self._a_w @ query + self._a_b
        mapped = searched + self._b_w.T @ searched
        scores = (records * mapped).sum(axis=1) + searched @ self._b_b
        return best_first(history, scores / self._temperature, limit)


@dataclass(frozen=True, slots=True, eq=False)
class Taught:
    """Rated lessons as tensors, shorter pools filled up.

    Attributes:
        queries: [m, dim].
        vectors: of all distinct record texts, [texts, dim].
        places: of each record's text among them, [m, n].
        worth: of each record, 0 where there is none, [m, n].
        is_there: False where a pool is filled up, [m, n].
    """

    queries: Tensor
    vectors: Tensor
    places: Tensor
    worth: Tensor
    is_there: Tensor

    @classmethod
    def of(cls, rated: Sequence[Rated], encoder: Encoder) -> Taught:
        """Embed every query and every distinct record text once."""
        requests = [one.lesson.asked.request for one in rated]
        histories = [tuple(candidate.record for candidate in one.pool) for one in rated]
        texts, flat = unique(
            [
                text
                for request, history in zip(requests, histories, strict=True)
                for text in retrieval_texts(request.task, history)
            ]
        )
        sizes = np.array([len(one.pool) for one in rated])
        is_there = np.arange(sizes.max()) < sizes[:, None]
        places, worth = np.zeros(is_there.shape, np.int64), np.zeros(is_there.shape)
        places[is_there] = flat
        worth[is_there] = np.concatenate([one.worth for one in rated])
        queries = encoder.encode([request.query for request in requests], "query")
        vectors = encoder.encode(texts, "document")
        arrays = (queries, vectors, places, worth.astype(np.float32), is_there)
        return cls(*(torch.from_numpy(np.array(array)) for array in arrays))

    def scores(self, towers: Towers, lessons: NDArray[np.int64] | slice) -> Tensor:
        """Scores of some lessons' records, −∞ where there is none, [b, n]."""
        found: Tensor = towers(self.queries[lessons], self.vectors[self.places[lessons]])
        return found.masked_fill(~self.is_there[lessons], -torch.inf)

    def targets(self, lessons: NDArray[np.int64] | slice, temperature: float) -> Tensor:
        """softmax(worth / temperature) over each pool, [b, n]."""
        worth = self.worth[lessons].masked_fill(~self.is_there[lessons], -torch.inf)
        return torch.softmax(worth / temperature, dim=1)


EVERY = slice(None)
"""All lessons."""


def cross_entropy(target: Tensor, scores: Tensor) -> Tensor:
    """−Σ target · log softmax(scores), mean over rows; −∞ scores are no candidates, [b, n]."""
    log_shares = torch.log_softmax(scores, dim=1)
    return -(target * log_shares.masked_fill(torch.isinf(scores), 0)).sum(dim=1).mean()


def divergence(target: Tensor, scores: Tensor) -> Tensor:
    """KL(target ‖ softmax(scores)), mean over rows."""
    return cross_entropy(target, scores) + torch.xlogy(target, target).sum(dim=1).mean()
