"""Batches of states: a few requests, a few states of each, as tensors.

In: features and state rows of chosen requests. Out: `Requests`, `States` and their targets, STOP as
the last action; or all states of whole trees. Requests are drawn task by task, so that every task
counts the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from enough.controller.examples import StateRows
from enough.controller.features import PoolFeatures
from enough.controller.model import Requests, States
from enough.controller.task_table import task_number
from enough.prompts.prompter import L_REF

_TOGETHER = 256  # states of whole trees at a time: more do not fit a core's cache


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """B states with the targets of A = N + 1 actions, STOP the last.

    Attributes:
        requests: R of them.
        states: B of them.
        target: (g, p, c), [B, A, 3].
        is_labelled: per component, [B, A, 3].
        is_feasible: records that may be taken, [B, N].
        is_full: fully expanded, [B].
        stop_margin: the teacher's, 0 where it does not count, [B].
    """

    requests: Requests
    states: States
    target: Tensor
    is_labelled: Tensor
    is_feasible: Tensor
    is_full: Tensor
    stop_margin: Tensor


def collate_requests(features: Sequence[PoolFeatures], tasks: dict[str, int]) -> Requests:
    """Requests padded to the largest pool among them."""
    size = max(1, *(len(f.tokens) for f in features))
    dim, count = len(features[0].query), len(features)
    records, actions = (np.zeros((count, size, dim), np.float32) for _ in range(2))
    static = np.zeros((count, size, features[0].static.shape[1]), np.float32)
    likeness = np.zeros((count, 3, size, size), np.float32)
    cost = np.zeros((count, size), np.float32)
    is_there = np.zeros((count, size), np.bool_)
    for row, one in enumerate(features):
        n = len(one.tokens)
        records[row, :n], actions[row, :n] = one.records, one.actions
        static[row, :n] = one.static
        for k, matrix in enumerate((one.record_likeness, one.action_likeness, one.same_action)):
            likeness[row, k, :n, :n] = matrix
        cost[row, :n] = one.tokens / L_REF
        is_there[row, :n] = True
    query = np.stack([one.query for one in features])
    numbers = np.array([task_number(tasks, one.task) for one in features], np.int64)
    tensors = (query, records, actions, static, likeness, cost, is_there, numbers)
    return Requests(*map(torch.from_numpy, tensors))


@dataclass(frozen=True, slots=True)
class Draw:
    """How many states of a request go into a batch."""

    expanded: int = 2
    others: int = 2


def make_batch(
    features: Sequence[PoolFeatures],
    rows: Sequence[StateRows],
    tasks: dict[str, int],
    draw: Draw,
    rng: np.random.Generator,
) -> Batch:
    """States drawn from these requests; the root of each is always there."""
    requests = collate_requests(features, tasks)
    size = requests.is_there.shape[1]
    picked = [_pick(one, draw, rng) for one in rows]
    count = sum(map(len, picked))
    target = np.zeros((count, size + 1, 3), np.float32)
    is_labelled = np.zeros((count, size + 1, 3), np.bool_)
    is_feasible = np.zeros((count, size), np.bool_)
    is_full = np.zeros(count, np.bool_)
    margin = np.zeros(count, np.float32)
    is_labelled[:, size] = True
    start = 0
    for one, places in zip(rows, picked, strict=True):
        b = slice(start, start + len(places))
        start = b.stop
        n = one.is_labelled.shape[1]
        target[b, size] = one.stop_target[places]
        is_labelled[b, size, 1] = one.is_known[places]
        source = np.searchsorted(one.expanded, places)
        has = np.append(one.expanded, -1)[source] == places
        there, source = np.flatnonzero(has) + b.start, source[has]
        target[there, :n] = one.action_target[source]
        labelled = one.is_labelled[source]
        is_labelled[there, :n] = labelled[..., None]
        is_labelled[there, :n, 1] = labelled & one.is_action_known[source]
        is_feasible[there, :n] = one.is_feasible[source]
        is_full[there] = one.is_full[source]
        margin[there] = one.stop_margin[source]
    return Batch(
        requests,
        _states(rows, picked),
        torch.from_numpy(target),
        torch.from_numpy(is_labelled),
        torch.from_numpy(is_feasible),
        torch.from_numpy(is_full),
        torch.from_numpy(np.nan_to_num(margin)),
    )


def unnamed(batch: Batch, share: float, other: int, rng: np.random.Generator) -> Batch:
    """The batch with about this share of its requests shown as of task number `other`."""
    task = batch.requests.task
    hidden = torch.from_numpy(rng.random(len(task)) < share)
    shown = torch.where(hidden, torch.full_like(task, other), task)
    return replace(batch, requests=replace(batch.requests, task=shown))


def whole_trees(
    features: Sequence[PoolFeatures], rows: Sequence[StateRows], tasks: dict[str, int]
) -> Iterator[tuple[Requests, States]]:
    """All states of all requests, in order, several requests at a time."""
    start, count = 0, 0
    for end, one in enumerate(rows, 1):
        count += len(one.length)
        if count >= _TOGETHER or end == len(rows):
            some = rows[start:end]
            everything = [np.arange(len(each.length)) for each in some]
            yield collate_requests(features[start:end], tasks), _states(some, everything)
            start, count = end, 0


def _states(rows: Sequence[StateRows], picked: Sequence[NDArray[np.int64]]) -> States:
    """These states of each request."""
    counts = [len(places) for places in picked]
    depth = max(one.chosen.shape[1] for one in rows)
    chosen = np.zeros((sum(counts), depth), np.int64)
    start = 0
    for one, places in zip(rows, picked, strict=True):
        chosen[start : start + len(places), : one.chosen.shape[1]] = one.chosen[places]
        start += len(places)
    pairs = list(zip(rows, picked, strict=True))
    return States(
        of=torch.from_numpy(np.repeat(np.arange(len(rows)), counts)),
        chosen=torch.from_numpy(chosen),
        length=torch.from_numpy(np.concatenate([one.length[places] for one, places in pairs])),
        budget=torch.from_numpy(np.concatenate([one.budget[places] for one, places in pairs])),
    )


def _pick(rows: StateRows, draw: Draw, rng: np.random.Generator) -> NDArray[np.int64]:
    """Rows of the root, of some expanded states and of some other ones, in order."""
    expanded = rng.permutation(rows.expanded)[: draw.expanded]
    others = rng.integers(len(rows.length), size=min(draw.others, len(rows.length)))
    return np.array(sorted({0, *expanded.tolist(), *others.tolist()}), np.int64)
