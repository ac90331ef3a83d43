"""PURPLE's scores: every record of a pool, seen beside the others, and the greedy choice by them.

In: a request and its pool. Out: log s_j with s_j in (0, 1), and the k records with the highest
ones. Two transformer layers without positions, so that the order of the pool does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from enough.baselines.fitting import seeded
from enough.baselines.fixed import first_k
from enough.baselines.plackett_luce import best_order
from enough.protocols import Budget, Encoder, Floats
from enough.records import Pool, Request, Selection
from enough.retrieval.ranking import retrieval_texts
from enough.retrieval.vectors import unit_rows

_WIDTH, _HEADS, _LAYERS = 64, 4, 2
_TOGETHER = 256  # pools


class ScoreNetwork(nn.Module):
    """log s_j of every record; equivariant to the order of the pool."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.project = nn.Linear(3 * dim + 1, _WIDTH)
        layer = nn.TransformerEncoderLayer(
            _WIDTH, _HEADS, 2 * _WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.mix = nn.TransformerEncoder(layer, _LAYERS, enable_nested_tensor=False)
        self.score = nn.Sequential(nn.Linear(_WIDTH, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, 1))

    def forward(self, features: Tensor, is_there: Tensor) -> Tensor:
        """Every log s, [b, n], from features [b, n, 3·dim + 1]."""
        mixed = self.mix(self.project(features), src_key_padding_mask=~is_there)
        return nn.functional.logsigmoid(self.score(mixed)[..., 0])


class PURPLESelector:
    """Greedy: the k highest scores. Implements `protocols.Selector`."""

    def __init__(self, network: ScoreNetwork, encoder: Encoder, k: int) -> None:
        self._network = network
        self._encoder = encoder
        self._k = k

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """At most k records that fit, best first."""
        if not pool:
            return Selection((), "no records")
        (scores,) = greedy_scores(self._network, [features(request, pool, self._encoder)])
        return first_k(best_order(scores).tolist(), pool, budget, self._k)


def features(request: Request, pool: Pool, encoder: Encoder) -> Floats:
    """Record, request, their product and the standardised retriever score, [n, 3·dim + 1]."""
    records = tuple(candidate.record for candidate in pool)
    vectors = unit_rows(encoder.encode(retrieval_texts(request.task, records), "document"))
    query = unit_rows(encoder.encode([request.query], "query"))
    scale = np.sqrt(vectors.shape[1])  # entries of about 1, so that their products are, too
    vectors, query = vectors * scale, np.broadcast_to(query * scale, vectors.shape)
    scores = np.array([candidate.score for candidate in pool])
    scores = (scores - scores.mean()) / (scores.std() + 1e-6)
    return np.concatenate([vectors, query, vectors * query, scores[:, None]], 1, dtype=np.float32)


def new_network(dim: int, seed: int) -> ScoreNetwork:
    """Fresh weights; the same for a seed."""
    return seeded(lambda: ScoreNetwork(dim), seed)


def collated(some: Sequence[Floats]) -> tuple[Tensor, Tensor]:
    """Features [b, n, f], shorter pools filled up, and which records are there [b, n]."""
    sizes = np.array([len(one) for one in some])
    is_there = np.arange(sizes.max()) < sizes[:, None]
    filled = np.zeros((*is_there.shape, some[0].shape[1]), np.float32)
    filled[is_there] = np.concatenate(some)
    return torch.from_numpy(filled), torch.from_numpy(is_there)


@torch.no_grad()
def greedy_scores(network: ScoreNetwork, some: Sequence[Floats]) -> list[NDArray[np.float64]]:
    """The log s of every pool, each [n]."""
    found: list[NDArray[np.float64]] = []
    for start in range(0, len(some), _TOGETHER):
        pools = some[start : start + _TOGETHER]
        scores = network(*collated(pools)).numpy().astype(np.float64)
        found += [row[: len(one)] for row, one in zip(scores, pools, strict=True)]
    return found
