"""What the controller sees of a request: embeddings and numbers, all known before the answer.

In: a request, its pool and budget, a frozen encoder. Out: `PoolFeatures`. Records are encoded with
their action and metadata [record-encoder], the request by its query. No reference, likelihood or
record of another user can get in: none is an argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.portraits import Known, Portrait, portray
from enough.controller.wording import shared_words
from enough.moment import Moment, as_years
from enough.prompts.prompter import L_REF
from enough.protocols import Budget, Encoder, Floats
from enough.records import Pool, Request
from enough.retrieval.vectors import unit_rows

STATIC = (
    "one",
    "rank",
    "is the first",
    "retriever score in the pool",
    "tokens",
    "likeness to the query",
    "likeness in the pool",
    "action's likeness to the query",
    "action's likeness in the pool",
    "action's mean likeness to other actions",
    "action's highest likeness to other actions",
    "share of equal actions",
    "words shared with the query",
    "shared words in the pool",
    "age",
    "has an age",
    "newness in the pool",
    "length of the context",
    "pool size",
    "tokens in the pool",
    "length of the action",
)
"""Numbers of a record that do not depend on what is chosen, in their order.

"In the pool" is how far a number lies from the pool's mean, in standard deviations.
"""
_IN_THE_POOL = [3, 6, 8, 13, 19]  # of the retriever's score, both likenesses, shared words, tokens


@dataclass(frozen=True, slots=True, eq=False)
class PoolFeatures:
    """A request and its n candidates.

    Attributes:
        task: name of the task.
        query: [dim].
        records: [n, dim].
        actions: the records' actions alone, [n, dim].
        static: numbers named in STATIC, [n, len(STATIC)].
        record_likeness: cosines between records, [n, n].
        action_likeness: cosines between actions, [n, n].
        same_action: 1 where actions are equal, [n, n].
        tokens: what each record adds to a prompt, [n].
        max_records: K_i.
        room: tokens a profile may have.
    """

    task: str
    query: Floats
    records: Floats
    actions: Floats
    static: Floats
    record_likeness: Floats
    action_likeness: Floats
    same_action: Floats
    tokens: NDArray[np.int64]
    max_records: int
    room: int


def featurise(
    request: Request, pool: Pool, budget: Budget, encoder: Encoder, known: Known | None = None
) -> PoolFeatures:
    """Features of one request; with what is known of its records, only the query is encoded."""
    portraits = portray(
        [candidate.record for candidate in pool], encoder, {} if known is None else known
    )
    query = unit_rows(encoder.encode([request.query], "query"))[0]
    scores = np.array([candidate.score for candidate in pool], np.float32)
    return assemble(request, query, portraits, scores, budget)


def assemble(
    request: Request, query: Floats, portraits: Sequence[Portrait], scores: Floats, budget: Budget
) -> PoolFeatures:
    """Features from what is known of the records.

    Args:
        request: what is asked.
        query: its unit vector [dim].
        portraits: of the n candidates.
        scores: the retriever's, [n].
        budget: what they cost and what may be spent.
    """
    n = len(portraits)
    records = np.array([one.vector for one in portraits], np.float32).reshape(n, len(query))
    actions = np.array([one.action_vector for one in portraits], np.float32).reshape(n, len(query))
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(one.action_key, len(codes)) for one in portraits], np.int64)
    action_likeness = actions @ actions.T
    same_action = (code[:, None] == code).astype(np.float32)
    tokens = np.array(budget.record_tokens, np.int64)
    static = np.empty((n, len(STATIC)), np.float32)
    columns = static.T
    likeness, action_to_query = records @ query, actions @ query
    shared = shared_words(request.query, [one.words for one in portraits])
    columns[0] = 1
    columns[1] = np.arange(n) / 20
    columns[2] = np.arange(n) == 0
    columns[4] = tokens / (L_REF / 4)
    columns[5] = likeness
    columns[7] = action_to_query
    columns[9:11] = _to_others(action_likeness)
    columns[11] = (same_action.sum(axis=1) - 1) / max(n - 1, 1)
    columns[12] = shared / 4
    columns[14:17] = _times(request.moment, [one.years for one in portraits])
    columns[17] = [one.context_length for one in portraits]
    columns[18] = n / 20
    columns[20] = [one.action_length for one in portraits]
    columns[_IN_THE_POOL] = _standardised(
        np.array((scores, likeness, action_to_query, shared, tokens), np.float32)
    )
    return PoolFeatures(
        task=request.task.name,
        query=query,
        records=records,
        actions=actions,
        static=static,
        record_likeness=records @ records.T,
        action_likeness=action_likeness,
        same_action=same_action,
        tokens=tokens,
        max_records=budget.max_records,
        room=budget.max_profile_tokens,
    )


def _standardised(rows: Floats) -> Floats:
    """Every row in deviations from its mean, [k, n]."""
    n = max(rows.shape[1], 1)
    centred = rows - np.add.reduce(rows, axis=1, keepdims=True) / n
    deviation = np.sqrt(np.add.reduce(centred * centred, axis=1, keepdims=True) / n)
    return np.asarray(centred / (deviation + 1e-6), np.float32)


def _to_others(likeness: Floats) -> Floats:
    """Mean and highest likeness of every row to the other rows, zeros where there are none."""
    n = len(likeness)
    if n < 2:
        return np.zeros((2, n), np.float32)
    apart = likeness.copy()
    apart.flat[:: n + 1] = -1  # nobody is its own neighbour
    return np.array(((likeness.sum(axis=1) - 1) / (n - 1), apart.max(axis=1)), np.float32)


def _times(now: Moment | None, years: Sequence[float | None]) -> NDArray[np.float64]:
    """Age (log of years), whether it is known, and rank by newness in [0, 1]; 0 where unknown."""
    columns = np.zeros((3, len(years)))
    if now is None:
        return columns
    age, is_known, newness = columns
    known = np.array([one is not None for one in years], np.bool_)
    then = np.array([one for one in years if one is not None])
    age[known] = np.log1p(np.maximum(as_years(now) - then, 0) * 12) / 4
    is_known[:] = known
    newness[known] = (then.argsort(kind="stable").argsort(kind="stable") + 1) / len(then)
    return columns
