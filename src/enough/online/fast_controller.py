"""The trained controller in plain numpy, for one request at a time: no framework between decisions.

In: a trained controller and the features of a request. Out: net values of actions, step by step,
equal to the training model's. What does not change between steps is computed once per request, and
what is linear is folded together: the first layer's part of every record, the request's part of
every context, the input side of the GRU.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.checkpoint import Trained
from enough.controller.features import PoolFeatures
from enough.prompts.prompter import L_REF
from enough.protocols import Floats

_NEVER = np.float32(-1e9)
_HORIZON = np.float32(0.1)
_ROOM = np.float32(1 / (4 * L_REF))


@dataclass(frozen=True, slots=True)
class StepValues:
    """What the controller thinks at one state with N candidates.

    Attributes:
        actions: (gain, specificity, cost) of taking each record, or (net,), [N, 3 or 1].
        stop: the same of STOP, [3 or 1].
        net: of taking each record; −∞ where it may not be taken, [N].
        net_stop: of STOP.
    """

    actions: Floats
    stop: Floats
    net: Floats
    net_stop: float


class FastController:
    """Weights laid out for decisions."""

    def __init__(self, trained: Trained) -> None:
        config = trained.model.config
        weights = {k: v.numpy().astype(np.float32) for k, v in trained.model.state_dict().items()}
        h = config.hidden
        self.tasks = trained.model.tasks
        self.hidden = h
        self.heads = config.heads
        self.ordered = config.ordered
        self.features = config.features
        self.single = config.single_head
        beta, lambda_ = np.float32(trained.point.beta), np.float32(trained.point.lambda_)
        self.price = lambda_
        self.mix = np.array([1.0] if self.single else [1.0, beta, -lambda_], np.float32)
        self.weights = weights
        # Everything that reads a record, side by side: one product per request.
        parts = ["keys", "values", "first"]
        columns = [weights[f"{name}.weight"].T for name in parts]
        biases = [weights[f"{name}.bias"] for name in parts]
        if self.ordered:
            columns.append(weights["profile.weight_ih_l0"].T)
            biases.append(weights["profile.bias_ih_l0"])
        self.per_record = np.ascontiguousarray(np.concatenate(columns, axis=1))
        self.per_record_bias = np.concatenate(biases)
        # Everything that reads [q; z; r; b], action context and STOP side by side.
        both = np.concatenate([weights["context.weight"], weights["stop_first.weight"]])
        self.from_query = np.ascontiguousarray(both[:, :h].T)
        self.from_state = np.ascontiguousarray(both[:, h:].T)
        self.context_bias = np.concatenate([weights["context.bias"], weights["stop_first.bias"]])
        asks = weights["asks.weight"] / np.float32(math.sqrt(h // self.heads))
        self.asks_query = np.ascontiguousarray(asks[:, :h].T)
        self.asks_profile = np.ascontiguousarray(asks[:, h:].T)
        self.asks_bias = weights["asks.bias"] / np.float32(math.sqrt(h // self.heads))
        self.dynamic = np.ascontiguousarray(weights["dynamic.weight"].T)
        self.second = np.ascontiguousarray(weights["second.weight"].T)
        self.second_bias = weights["second.bias"]
        self.stop_second = np.ascontiguousarray(weights["stop_second.weight"].T)
        self.stop_bias = weights["stop_second.bias"]
        if self.ordered:
            self.recur = np.ascontiguousarray(weights["profile.weight_hh_l0"].T)
            self.recur_bias = weights["profile.bias_hh_l0"]

    def start(self, features: PoolFeatures) -> Walk:
        """Begin with the empty profile."""
        return Walk(self, features)


class Walk:
    """One request's way through its states."""

    def __init__(self, net: FastController, features: PoolFeatures) -> None:
        w, h = net.weights, net.hidden
        self._net = net
        self._features = features
        task = w["task.weight"][net.tasks[features.task]]
        mixed = features.records @ w["record.weight"].T + features.actions @ w["action.weight"].T
        mixed += w["record.bias"] + task
        if net.features:
            mixed += features.static @ w["static.weight"].T
        mixed -= mixed.mean(axis=1, keepdims=True)
        mixed /= np.sqrt((mixed * mixed).mean(axis=1, keepdims=True) + np.float32(1e-5))
        self._record = np.maximum(mixed * w["norm.weight"] + w["norm.bias"], 0)  # [N, H]
        wide = self._record @ net.per_record + net.per_record_bias
        n, size = len(features.tokens), h // net.heads
        self._keys = wide[:, :h].reshape(n, net.heads, size)
        self._values = wide[:, h : 2 * h].reshape(n, net.heads, size)
        self._first = wide[:, 2 * h : 3 * h]
        self._inputs = wide[:, 3 * h :]
        query = np.maximum(features.query @ w["query.weight"].T + w["query.bias"] + task, 0)
        self._asks = query @ net.asks_query + net.asks_bias
        self._context = query @ net.from_query + net.context_bias  # [2H]
        self._cost = (features.tokens / L_REF).astype(np.float32)
        self._state = np.zeros(2 * h + 3, np.float32)  # z, r, b
        self._closed = np.zeros((n, 1), np.float32)  # _NEVER where taken
        self._likeness = np.stack(
            [features.record_likeness, features.action_likeness, features.same_action]
        )  # [3, N, N]
        self._dynamic = np.zeros((n, 4), np.float32)
        self._sums = np.zeros((n, 2), np.float32)
        self.chosen: list[int] = []
        self.tokens = 0

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Records that may be taken: no repeat, no overflow, horizon kept, [N]."""
        features = self._features
        if len(self.chosen) >= features.max_records:
            return np.zeros(len(features.tokens), np.bool_)
        room = features.room - self.tokens
        is_open: NDArray[np.bool_] = (features.tokens <= room) & (self._closed[:, 0] == 0)
        return is_open

    def values(self) -> StepValues:
        """What every action is worth at this state."""
        net, h = self._net, self._net.hidden
        state = self._state
        z = state[:h]
        spent = np.float32(self.tokens / L_REF)
        state[2 * h] = spent
        state[2 * h + 1] = (self._features.max_records - len(self.chosen)) * _HORIZON
        state[2 * h + 2] = min(np.float32(self._features.room - self.tokens) * _ROOM, np.float32(1))
        state[h : 2 * h] = self._remaining(z)
        context = self._context + state @ net.from_state  # [2H]
        hidden = self._first + context[:h]
        if net.features and self.chosen:
            hidden = hidden + self._dynamic @ net.dynamic
        actions = np.maximum(hidden, 0) @ net.second + net.second_bias
        stop = np.maximum(context[h:], 0) @ net.stop_second + net.stop_bias
        if not self.chosen:
            stop *= 0
        if not net.single:
            actions[:, 2] += self._cost + spent
            stop[2] = spent
        worth = np.where(self.feasible, actions @ net.mix, np.float32(-np.inf))
        return StepValues(actions, stop, worth, float(stop @ net.mix))

    def _remaining(self, z: Floats) -> Floats:
        """r: attention over what is left, zeros where nothing is."""
        net = self._net
        if not len(self._closed) or (self._closed < 0).all():
            return np.zeros(net.hidden, np.float32)
        asks = self._asks if not self.chosen else self._asks + z @ net.asks_profile
        scores = (self._keys * asks.reshape(net.heads, -1)).sum(axis=2) + self._closed  # [N, heads]
        scores -= scores.max(axis=0)
        weights = np.exp(scores)
        weights /= weights.sum(axis=0)
        summary: Floats = (weights[:, :, None] * self._values).sum(axis=0).reshape(-1)
        return summary

    def take(self, place: int) -> None:
        """Append a record to the profile."""
        self.chosen.append(place)
        self.tokens += int(self._features.tokens[place])
        self._closed[place] = _NEVER
        columns = self._likeness[:, :, place]  # [3, N]
        count = len(self.chosen)
        if count == 1:
            self._dynamic[:, :2] = columns[:2].T
        else:
            np.maximum(self._dynamic[:, :2], columns[:2].T, out=self._dynamic[:, :2])
        self._sums += columns[1:].T
        self._dynamic[:, 2:] = self._sums / np.float32(count)
        self._advance(place)

    def _advance(self, place: int) -> None:
        """z: one step of the GRU, or the mean of what is chosen."""
        net, h = self._net, self._net.hidden
        if not net.ordered:
            mean = self._record[self.chosen].mean(axis=0)
            self._state[:h] = mean @ net.weights["profile.weight"].T + net.weights["profile.bias"]
            return
        z, given = self._state[:h], self._inputs[place]
        again = z @ net.recur + net.recur_bias
        gates = 1 / (1 + np.exp(-(given[: 2 * h] + again[: 2 * h])))
        fresh = np.tanh(given[2 * h :] + gates[:h] * again[2 * h :])
        self._state[:h] = fresh + gates[h:] * (z - fresh)
