"""What the controller sees of a request: embeddings and numbers, all known before the answer.

In: a request, its pool and budget, a frozen encoder. Out: `PoolFeatures`. Records are encoded with
their action and metadata [record-encoder], the request by its query. No reference, likelihood or
record of another user can get in: none is an argument.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.wording import shared_words
from enough.moment import Moment, as_years
from enough.prompts.prompter import L_REF
from enough.prompts.serialise import metadata_of
from enough.protocols import Budget, Encoder, Floats
from enough.records import Pool, Record, Request
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

    @property
    def in_order(self) -> tuple[int, ...]:
        """The pool's first candidates, as many as may be; what does not fit is passed over."""
        chosen: list[int] = []
        room = self.room
        for place, tokens in enumerate(self.tokens.tolist()):
            if len(chosen) < self.max_records and tokens <= room:
                chosen.append(place)
                room -= tokens
        return tuple(chosen)


def record_text(record: Record) -> str:
    """What is encoded of a record: context, action and metadata."""
    meta = " ".join(f"{name} {value}" for name, value in metadata_of(record))
    return " ".join(part for part in (record.context, record.action, meta) if part)


def featurise(
    request: Request, pool: Pool, budget: Budget, encoder: Encoder, whose: Hashable = None
) -> PoolFeatures:
    """Features of one request; what is remembered of texts is remembered under `whose`."""
    records = [candidate.record for candidate in pool]
    texts = [record_text(record) for record in records] + [record.action for record in records]
    vectors = unit_rows(encoder.encode(texts, "document"))  # [2n, dim]
    query = unit_rows(encoder.encode([request.query], "query"))[0]
    scores = np.array([candidate.score for candidate in pool], np.float32)
    n = len(records)
    return assemble(
        request,
        records,
        scores,
        budget,
        Embedded(query, vectors[:n], vectors[n:]),
        whose=whose,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Unit vectors of the query [dim], of records [n, dim] and of their actions [n, dim]."""

    query: Floats
    records: Floats
    actions: Floats


def assemble(
    request: Request,
    records: Sequence[Record],
    scores: Floats,
    budget: Budget,
    embedded: Embedded,
    *,
    whose: Hashable = None,
) -> PoolFeatures:
    """Features from vectors that are known already."""
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(r.action.casefold(), len(codes)) for r in records], np.int64)
    action_likeness = embedded.actions @ embedded.actions.T
    same_action = (code[:, None] == code).astype(np.float32)
    tokens = np.array(budget.record_tokens, np.int64)
    n = len(records)
    static = np.empty((n, len(STATIC)), np.float32)
    columns = static.T
    likeness, action_to_query = (
        embedded.records @ embedded.query,
        embedded.actions @ embedded.query,
    )
    shared = shared_words(request.query, [record_text(record) for record in records], whose)
    columns[0] = 1
    columns[1] = np.arange(n) / 20
    columns[2] = np.arange(n) == 0
    columns[3] = _standardised(scores)
    columns[4] = tokens / (L_REF / 4)
    columns[5] = likeness
    columns[6] = _standardised(likeness)
    columns[7] = action_to_query
    columns[8] = _standardised(action_to_query)
    columns[9:11] = _to_others(action_likeness)
    columns[11] = (same_action.sum(axis=1) - 1) / max(n - 1, 1)
    columns[12] = shared / 4
    columns[13] = _standardised(shared)
    columns[14:17] = _times(request.moment, [record.moment for record in records])
    columns[17] = np.log1p([len(record.context) for record in records]) / 8
    columns[18] = n / 20
    columns[19] = _standardised(tokens.astype(np.float32))
    columns[20] = np.log1p([len(record.action) for record in records]) / 8
    return PoolFeatures(
        task=request.task.name,
        query=embedded.query,
        records=embedded.records,
        actions=embedded.actions,
        static=static,
        record_likeness=embedded.records @ embedded.records.T,
        action_likeness=action_likeness,
        same_action=same_action,
        tokens=tokens,
        max_records=budget.max_records,
        room=budget.max_profile_tokens,
    )


def _standardised(scores: Floats) -> Floats:
    if not len(scores):
        return scores
    centred = scores - scores.mean()
    deviation = np.sqrt(centred @ centred / len(scores))
    return np.asarray(centred / (deviation + 1e-6), np.float32)


def _to_others(likeness: Floats) -> Floats:
    """Mean and highest likeness of every row to the other rows, zeros where there are none."""
    n = len(likeness)
    if n < 2:
        return np.zeros((2, n), np.float32)
    apart = likeness.copy()
    apart.flat[:: n + 1] = -1  # nobody is its own neighbour
    return np.array(((likeness.sum(axis=1) - 1) / (n - 1), apart.max(axis=1)), np.float32)


def _times(now: Moment | None, moments: Sequence[Moment | None]) -> NDArray[np.float64]:
    """Age (log of years), whether it is known, and rank by newness in [0, 1]; 0 where unknown."""
    columns = np.zeros((3, len(moments)))
    if now is None:
        return columns
    age, is_known, newness = columns
    known = np.array([moment is not None for moment in moments], np.bool_)
    years = np.array([as_years(moment) for moment in moments if moment is not None])
    age[known] = np.log1p(np.maximum(as_years(now) - years, 0) * 12) / 4
    is_known[:] = known
    newness[known] = (years.argsort(kind="stable").argsort(kind="stable") + 1) / len(years)
    return columns
