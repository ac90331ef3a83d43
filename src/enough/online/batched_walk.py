"""States of many requests in plain numpy, all of them one step further at a time.

In: decision weights and the features of requests, pools of any sizes. Out: net values of actions,
step by step, equal to those of the runtime for one request up to rounding. Here arithmetic costs,
not calls: records are projected once, and steps share their products.

Shapes: B requests, N candidates of the largest pool, H hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enough.controller.features import PoolFeatures
from enough.controller.model import BUDGET, DYNAMIC
from enough.controller.task_table import task_number
from enough.online.decision_weights import DecisionWeights, encoded_records
from enough.prompts.prompter import L_REF
from enough.protocols import Floats

_UNSEEN, _NOTHING_LEFT = np.float32(-1e9), np.float32(-5e8)
_HALF = np.float32(0.5)


class BatchedWalk:
    """The way of B requests through their states, in step. Every array has a row per request."""

    def __init__(self, w: DecisionWeights, features: Sequence[PoolFeatures]) -> None:
        self._w, self._step = w, 0
        h, count = len(w.norm_scale), len(features)
        sizes = np.array([len(one.tokens) for one in features])
        n = self.candidates = int(sizes.max())
        task = np.array([task_number(w.tasks, one.task) for one in features])
        record = encoded_records(
            w,
            _padded([one.records for one in features]),
            _padded([one.actions for one in features]),
            _padded([one.static for one in features]),
            task[:, None],
        )
        query = np.stack([one.query for one in features]) @ w.query + w.task_query[task]
        np.maximum(query, 0, out=query)
        wide = record @ w.per_record  # [B, N, 3H or 6H]
        wide += w.per_record_bias
        heads = (count, n, w.heads, h // w.heads)
        # Read at every step, so worth a copy without gaps; both [B, heads, N, size].
        self._keys = wide[:, :, :h].reshape(heads).swapaxes(1, 2).copy()
        self._values = wide[:, :, h : 2 * h].reshape(heads).swapaxes(1, 2).copy()
        self._own = wide[:, :, 2 * h : 3 * h].copy()
        self._inputs = wide[:, :, 3 * h :] if w.of_mean is None else record
        self._asks = query @ w.asks_query + w.asks_bias
        # What reads z, before it does: the GRU's side, then the context.
        recur = np.broadcast_to(w.recur_bias, (count, len(w.recur_bias)))
        context = query @ w.from_query + w.context_bias
        self._unread = np.concatenate([recur, context], axis=1)
        self._read = self._unread
        self._profile = np.zeros((count, h), np.float32)  # z
        self._chosen = np.zeros((count, h), np.float32)  # sum of them, where order does not count
        # First layer of all actions: `_numbers`ᵀ @ `_layer` + `_own`; the context is its last row.
        self._numbers = np.zeros((count, DYNAMIC + 1, n), np.float32)
        self._numbers[:, DYNAMIC] = 1
        self._layer = np.zeros((count, DYNAMIC + 1, h), np.float32)
        if w.dynamic is not None:
            self._layer[:, :DYNAMIC] = w.dynamic
            self._likeness = np.stack(
                (
                    _padded([one.record_likeness for one in features]),
                    _padded([one.action_likeness for one in features]),
                    _padded([one.same_action for one in features]),
                ),
                axis=1,
            )  # [B, 3, N, N]
            self._sums = np.zeros((count, 2, n), np.float32)
        # Net values by numbers alone: of taking a record, [B, N]; of STOP, by what it has, [B].
        self._gained = np.zeros((count, n), np.float32)
        self._gained_stop = np.zeros(count, np.float32)
        self._worth = np.zeros((count, n, 2), np.float32)
        if w.worth is not None:
            static = _padded([one.static for one in features])
            self._worth = static @ w.worth[task][:, :, -2:]
            self._gained += self._worth[..., 0]
        self._tokens = _padded([one.tokens for one in features])
        self._cost = (self._tokens * (w.price[-2] / L_REF)).astype(np.float32)
        self._closed = np.where(np.arange(n) < sizes[:, None], np.float32(0), _UNSEEN)
        self._room = np.array([one.room for one in features])
        self._horizon = np.array([one.max_records for one in features])
        self._spent = np.zeros(count, np.int64)
        self._stop_shifts = w.stop_shifts[task]  # [B, K]

    def values(self) -> tuple[Floats, Floats]:
        """Net values of taking each record, −∞ where it may not be, [B, N], and of STOP, [B]."""
        w, h = self._w, self._layer.shape[2]
        budget = np.empty((len(self._room), BUDGET), np.float32)  # as `budget_features` has it
        budget[:, 0] = self._spent / L_REF
        budget[:, 1] = (self._horizon - self._step) / 10
        budget[:, 2] = np.minimum(self._room / L_REF, 4) / 4
        context = self._remaining() @ w.from_rest
        context += budget @ w.from_budget
        context += self._read[:, -2 * h :]
        self._layer[:, DYNAMIC] = context[:, :h]
        hidden = self._numbers.transpose(0, 2, 1) @ self._layer  # [B, N, H]
        hidden += self._own
        np.maximum(hidden, 0, out=hidden)
        net = (hidden.reshape(-1, h) @ w.outcomes[:, -2]).reshape(self._cost.shape)
        net += self._cost + self._gained + w.outcomes_bias[-2]
        stop = np.maximum(context[:, h:], 0) @ w.outcomes[:, -1] + w.outcomes_bias[-1]
        stop += self._gained_stop
        if not self._step:
            stop[:] = 0
        spent = budget[:, 0] * w.price[-1]
        is_barred = (self._tokens > self._room[:, None]) | (self._closed < 0)
        is_barred |= (self._horizon <= self._step)[:, None]
        net += spent[:, None]
        if w.lead and self.candidates:
            net -= w.lead
            net[np.arange(len(net)), (~is_barred).argmax(axis=1)] += w.lead  # the next in order
        stop += spent + self._stop_shifts[:, min(self._step, self._stop_shifts.shape[1] - 1)]
        return np.where(is_barred, np.float32(-np.inf), net), stop

    def _remaining(self) -> Floats:
        """r: attention over what is left, zeros where nothing is, [B, H]."""
        asks = self._asks
        if self._step:
            asks = asks + self._profile @ self._w.asks_profile
        shape = (*self._keys.shape[:2], -1, 1)
        scores = (self._keys @ asks.reshape(shape))[..., 0]  # [B, heads, N]
        scores += self._closed[:, None]
        scores -= scores.max(axis=2, keepdims=True, initial=_NOTHING_LEFT)
        shares = np.exp(scores, out=scores)
        shares /= np.maximum(shares.sum(axis=2, keepdims=True), 1)  # the highest alone is 1
        summary: Floats = (shares[:, :, None] @ self._values).reshape(len(asks), -1)
        return summary

    def take(self, places: NDArray[np.int64]) -> None:
        """Append a record to every profile; a row whose record may not be taken means nothing."""
        w, rows = self._w, np.arange(len(places))
        self._step += 1
        cost = self._tokens[rows, places]
        worth = self._worth[rows, places]  # [B, 2]
        self._gained += worth[:, :1]
        self._gained_stop += worth[:, 1]
        self._spent += cost
        self._room -= cost
        self._closed[rows, places] = _UNSEEN
        if w.dynamic is not None:
            columns = self._likeness[rows, :, :, places]  # [B, 3, N]
            highest = self._numbers[:, :2]
            if self._step == 1:
                highest[:] = columns[:, :2]
            else:
                np.maximum(highest, columns[:, :2], out=highest)
            self._sums += columns[:, 1:]
            np.divide(self._sums, np.float32(self._step), out=self._numbers[:, 2:DYNAMIC])
        self._advance(self._inputs[rows, places])
        self._read = self._profile @ w.from_profile
        self._read += self._unread

    def _advance(self, given: Floats) -> None:
        """z: one step of the GRU, or the mean of what is chosen."""
        h, read = self._profile.shape[1], self._read
        if self._w.of_mean is not None:
            weight, bias = self._w.of_mean
            self._chosen += given
            self._profile = self._chosen @ (weight / np.float32(self._step)) + bias
            return
        gates = np.tanh(given[:, : 2 * h] + read[:, : 2 * h])
        gates += 1
        fresh = np.tanh(given[:, 2 * h :] + gates[:, :h] * read[:, 2 * h : 3 * h])
        kept = (self._profile - fresh) * gates[:, h:]
        kept *= _HALF
        self._profile = fresh + kept

    def keep(self, wanted: NDArray[np.bool_]) -> None:
        """Go on with some of the requests."""
        for name, array in vars(self).items():
            if isinstance(array, np.ndarray):
                setattr(self, name, array[wanted])


def _padded(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Arrays of all requests on top of each other, filled up with zeros to the largest."""
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        return np.stack(arrays)
    largest = tuple(max(sizes) for sizes in zip(*shapes, strict=True))
    padded = np.zeros((len(arrays), *largest), arrays[0].dtype)
    for room, array in zip(padded, arrays, strict=True):
        room[tuple(map(slice, array.shape))] = array
    return padded
