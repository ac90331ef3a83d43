"""The best of many vectors, with the scores and the order of `DenseRetriever`.

In: a `Shelf` and a query [dim]. Out: places of blocks and lines with their scores. A matrix product
is fast, but the last bits of a row then depend on its place, and ties break. So it only finds those
that can be among the best, rounding considered; these few are scored as `DenseRetriever` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from enough.errors import ModelError
from enough.protocols import Floats
from enough.records import Candidate, History, Pool
from enough.store.record_store import RecordStore
from enough.store.shelves import Shelf
from enough.store.values import Owner

_FEW_MORE = 3  # times as many as are wanted


class Hit(NamedTuple):
    """Where a record is, and how near."""

    block: int
    line: int
    score: float


def best(shelf: Shelf, query: Floats, skip: int, limit: int) -> list[Hit]:
    """The hits from rank `skip` on, at most `limit`; ties in the order of appending."""
    blocks = shelf.blocks
    starts = np.cumsum([0, *(len(one.vectors) for one in blocks)])
    last = min(skip + limit, int(starts[-1]))
    if last <= skip:
        return []
    query = np.ascontiguousarray(query, np.float32)
    if query.shape != (dim := blocks[0].vectors.shape[1],) or not np.isfinite(query).all():
        raise ModelError(f"a query vector must be {dim} finite numbers, not {query.shape}")
    if starts[-1] <= _FEW_MORE * last:  # to look for the best would take as long
        places, rows = np.arange(starts[-1]), _joined([one.vectors for one in blocks])
    else:
        places = _likely(shelf, query, last)
        of_block, lines = _located(places, starts)
        rows = _joined([blocks[b].vectors[lines[of_block == b]] for b in np.unique(of_block)])
    scores = (rows * query).sum(axis=1).astype(np.float64)
    order = (-scores).argsort(kind="stable")[skip:last]
    if len(blocks) == 1:  # most owners have no more
        ranked = zip(places[order].tolist(), scores[order].tolist(), strict=True)
        return [Hit(blocks[0].block, line, score) for line, score in ranked]
    of_block, lines = (one.tolist() for one in _located(places[order], starts))
    found = zip(of_block, lines, scores[order].tolist(), strict=True)
    return [Hit(blocks[b].block, line, score) for b, line, score in found]


def _joined(parts: Sequence[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _located(
    places: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Block and line of every place."""
    of_block = starts.searchsorted(places, side="right") - 1
    return of_block, places - starts[of_block]


def _likely(shelf: Shelf, query: Floats, last: int) -> NDArray[np.int64]:
    """Places of all that can be among the best `last`, in order."""
    rough = np.concatenate([one.vectors @ query for one in shelf.blocks])  # [n]
    # Two float32 sums of dim products differ by at most dim · 2⁻²³ · |x| · |q|; one may lie too
    # high and the other too low.
    longest = max(one.longest for one in shelf.blocks)
    slack = 2 * len(query) * 2.0**-23 * longest * float(np.linalg.norm(query))
    bound = np.partition(rough, len(rough) - last)[len(rough) - last] - slack
    return np.flatnonzero(rough >= bound)


def legal_pool(
    store: RecordStore,
    owner: Owner,
    query: Floats,
    fingerprint: str,
    *,
    limit: int,
    legal: Callable[[Pool], History],
) -> Pool:
    """The nearest records that are legal, at most `limit`.

    Args:
        store: where they are.
        owner: whose.
        query: the request's vector [dim].
        fingerprint: of the encoder it is from.
        limit: M.
        legal: of some candidates the records a request may see, such as
            `LeakageControls.legal(request, history).records`; it is asked about the nearest ones
            first, a quarter more than `limit`, and about others only where too few are legal.
    """
    found: dict[str, Candidate] = {}
    skip, batch = 0, limit + limit // 4 + 1  # most requests may see most of the nearest
    while len(found) < limit:
        nearest = store.nearest(owner, query, fingerprint, batch, skip=skip)
        kept = {record.id for record in legal(nearest)}
        for one in nearest:
            if one.record.id in kept:  # a write in between can move one to the next batch
                found.setdefault(one.record.id, one)
        if len(nearest) < batch:
            break
        skip, batch = skip + batch, 2 * batch
    return tuple(found.values())[:limit]
