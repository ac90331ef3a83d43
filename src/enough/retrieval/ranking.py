"""What every retriever shares: the text of a record, and the one way from scores to a pool.

In: a history and one score per record. Out: a `Pool` of at most `limit` candidates, best first,
ties in the order of the history, all scores finite.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enough.protocols import Encoder
from enough.records import Candidate, History, Pool, Request
from enough.tasks import Task

_EMBEDDED_TOGETHER = 4096


def retrieval_texts(task: Task, history: History) -> list[str]:
    """The text each record is searched by; braces in a user's text are data, not template."""
    return [
        task.retrieval_text.format(context=record.context, action=record.action)
        for record in history
    ]


def embed_all(encoder: Encoder, requests: Sequence[Request], histories: Sequence[History]) -> None:
    """Embed all distinct texts of many requests at once, for the encoder's cache to keep."""
    texts = {
        text
        for request, history in zip(requests, histories, strict=True)
        for text in retrieval_texts(request.task, history)
    }
    ordered = sorted(texts, key=lambda text: (len(text), text))
    for start in range(0, len(ordered), _EMBEDDED_TOGETHER):
        encoder.encode(ordered[start : start + _EMBEDDED_TOGETHER], "document")
    encoder.encode(sorted({request.query for request in requests}), "query")


def best_first(history: History, scores: ArrayLike, limit: int) -> Pool:
    """The `limit` best records with their scores, one score per record of the history."""
    finite = _finite(np.asarray(scores, dtype=np.float64))
    if finite.shape != (len(history),):
        raise ValueError(f"{finite.shape} scores for {len(history)} records")
    order = np.argsort(-finite, kind="stable")[: max(limit, 0)]
    return tuple(Candidate(history[i], float(finite[i])) for i in order)


def unique(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """The distinct texts in order of appearance, and where each text is among them."""
    place: dict[str, int] = {}
    places = [place.setdefault(text, len(place)) for text in texts]
    return list(place), places


def _finite(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """NaN says nothing about a record, so it counts as the lowest score; infinities are capped."""
    known = scores[np.isfinite(scores)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    return np.nan_to_num(scores, nan=low, posinf=high, neginf=low)
