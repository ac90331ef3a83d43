"""The trained controller in plain numpy, for one request at a time: no framework between decisions.

In: a trained controller and the features of a request. Out: net values of actions, step by step,
equal to the training model's. A step is a few dozen calls on arrays so small that the calls are
what costs. So whatever is linear is multiplied out once per request: attention scores are one
product with the profile's vector, and what they weigh leads straight into the next layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.checkpoint import Trained
from enough.controller.features import PoolFeatures
from enough.controller.model import BUDGET, DYNAMIC
from enough.controller.task_table import task_number
from enough.online.decision_weights import decision_weights, encoded_records
from enough.prompts.prompter import L_REF
from enough.protocols import Floats

_UNSEEN = np.float32(-1e9)
_NEVER_TAKEN = np.float32(-np.inf)
_HALF = np.float32(0.5)


@dataclass(frozen=True, slots=True)
class StepValues:
    """What the controller thinks at one state with N candidates.

    Attributes:
        actions: (gain, specificity, cost) of taking each record, or (net,), [N, 3 or 1]; with a
            habit, what that adds comes last.
        stop: the same of STOP.
        net: of taking each record, as it is compared; −∞ where it may not be taken, [N].
        net_stop: of STOP, as it is compared.
    """

    actions: Floats
    stop: Floats
    net: Floats
    net_stop: float

    def promise(self, taken: int | None) -> float:
        """Net value of a choice by itself, without what a habit adds; None is STOP."""
        parts = self.stop if taken is None else self.actions[taken]
        net = self.net_stop if taken is None else float(self.net[taken])
        return net - (float(parts[-1]) if len(parts) % 2 == 0 else 0.0)  # one part, or three


class FastController:
    """Begins walks; holds the weights they share."""

    def __init__(self, trained: Trained) -> None:
        w = self.weights = decision_weights(trained)
        self.tasks = w.tasks
        shape = (w.heads, len(w.norm_scale) // w.heads, -1)
        self.keys_to_scores = np.ascontiguousarray(w.asks_profile.T).reshape(shape)
        self.values_to_context = w.from_rest.reshape(shape)

    def start(self, features: PoolFeatures) -> Walk:
        """Begin with the empty profile."""
        return Walk(self, features)


class Walk:
    """One request's way through its states. Products are `.dot`, which starts faster than `@`."""

    def __init__(self, net: FastController, features: PoolFeatures) -> None:
        w = net.weights
        self._w, self._features = w, features
        n, h = len(features.tokens), len(w.norm_scale)
        task = task_number(w.tasks, features.task)
        query = np.maximum(features.query @ w.query + w.task_query[task], 0)
        self._record = encoded_records(w, features.records, features.actions, features.static, task)
        wide = self._record @ w.per_record + w.per_record_bias
        self._inputs = wide[:, 3 * h :]  # the GRU's side of each record
        # Attention over what remains: scores are `_at_start` + `_of_profile` · z, closed records
        # have −1e9; `_shares` · `_to_context` is what it and the budget add to the context.
        keys, values = wide[:, : 2 * h].reshape(n, 2, w.heads, h // w.heads).transpose(1, 2, 0, 3)
        asks = (query @ w.asks_query + w.asks_bias).reshape(w.heads, -1, 1)
        self._at_start = (keys @ asks)[:, :, 0]  # [heads, N]
        self._of_profile = (keys @ net.keys_to_scores).reshape(-1, h)  # [heads·N, H]
        self._shares = np.zeros(w.heads * n + BUDGET, np.float32)
        self._to_context = np.concatenate(
            [(values @ net.values_to_context).reshape(-1, 2 * h), w.from_budget]
        )
        # First layer of all actions, STOP the last of them: `_numbers`ᵀ · `_layer` + `_own`.
        self._own = np.zeros((n + 1, h), np.float32)
        self._own[:n] = wide[:, 2 * h : 3 * h]
        self._numbers = np.zeros((DYNAMIC + 2, n + 1), np.float32)
        self._numbers[DYNAMIC, :n] = self._numbers[DYNAMIC + 1, n] = 1
        self._layer = np.zeros((DYNAMIC + 2, h), np.float32)
        if w.dynamic is not None:
            self._layer[:DYNAMIC] = w.dynamic
            self._likeness = np.array(
                (features.record_likeness, features.action_likeness, features.same_action)
            )  # [3, N, N]
            self._sums = np.zeros((2, n), np.float32)
        # Second layer: its bias and what is known; −∞ for the net value of what may not be taken.
        cost = np.zeros((n + 1, 1), np.float32)
        cost[:n, 0] = features.tokens
        self._known = w.outcomes_bias + cost * (w.price / np.float32(L_REF))
        # What a record adds by its numbers, to itself and, once it is taken, to everything.
        self._worth = None if w.worth is None else features.static @ w.worth[task]
        if self._worth is not None:
            self._known[:n] += self._worth
        self._barred = self._known[:n, -2]
        self._root = np.zeros_like(w.price)  # STOP with nothing chosen is worth nothing
        if w.has_habit:
            self._begin_habit(w.stop_shifts[task])
        self._longest = int(features.tokens.max(initial=0))
        self._profile = np.zeros(h, np.float32)  # z
        # What reads z, before it does: the GRU's side, then the context.
        self._unread = np.concatenate([w.recur_bias, query @ w.from_query + w.context_bias])
        self._read = self._unread
        self.chosen: list[int] = []
        self.tokens = 0
        self._bar()

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Records that may be taken: no repeat, no overflow, horizon kept, [N]."""
        return self._barred > _NEVER_TAKEN

    def values(self) -> StepValues:
        """What every action is worth at this state."""
        w, n, taken = self._w, len(self._barred), len(self.chosen)
        spent = self.tokens / L_REF
        self._shares[-3] = spent  # b, as `budget_features` has it in training
        self._shares[-2] = (self._features.max_records - taken) / 10
        self._shares[-1] = min((self._features.room - self.tokens) / L_REF, 4) / 4
        self._attend()
        context = self._shares.dot(self._to_context)
        context += self._read[-len(context) :]
        self._layer[DYNAMIC:] = context.reshape(2, -1)
        hidden = self._numbers.T.dot(self._layer)
        hidden += self._own
        outcomes = np.maximum(hidden, 0, out=hidden).dot(w.outcomes)
        outcomes += self._known
        if taken:
            outcomes += w.price * np.float32(spent)
        else:
            outcomes[n] = self._root
        outputs = len(w.price) // 2 - 1
        return StepValues(
            outcomes[:n, :outputs],
            outcomes[n, outputs:-2],
            outcomes[:n, -2],
            float(outcomes[n, -1]),
        )

    def _attend(self) -> None:
        """Shares of the attention over what is left, zeros where nothing is."""
        shares = self._shares[:-BUDGET].reshape(self._at_start.shape)
        if len(self.chosen) == len(self._barred):
            shares[:] = 0
            return
        scores = self._at_start
        if self.chosen:
            scores = self._of_profile.dot(self._profile).reshape(scores.shape)
            scores += self._at_start
        # Methods of arrays that reduce go through a function in Python first.
        np.exp(scores - np.maximum.reduce(scores, axis=1, keepdims=True), out=shares)
        shares /= np.add.reduce(shares, axis=1, keepdims=True)

    def take(self, place: int) -> None:
        """Append a record to the profile."""
        self.chosen.append(place)
        self.tokens += int(self._features.tokens[place])
        if self._worth is not None:
            self._known += self._worth[place]
        self._barred[place] = _NEVER_TAKEN
        self._at_start[:, place] = _UNSEEN
        self._bar()
        if self._w.dynamic is not None:
            self._compare(place)
        self._advance(place)
        self._read = self._profile.dot(self._w.from_profile)
        self._read += self._unread

    def _bar(self) -> None:
        """Close what does not fit any more."""
        room = self._features.room - self.tokens
        if len(self.chosen) >= self._features.max_records:
            self._barred[:] = _NEVER_TAKEN
        elif room < self._longest:
            self._barred[self._features.tokens > room] = _NEVER_TAKEN
        if self._w.has_habit:
            self._keep_habit()

    def _begin_habit(self, stop_shifts: Floats) -> None:
        """What the habit adds stands among what is known, and is a part of every value."""
        self._stop_shifts, self._next = stop_shifts, 0
        self._of_action = len(self._w.price) // 2 - 2  # columns of what it adds
        self._of_stop = len(self._w.price) - 3
        self._root[[self._of_stop, -1]] = stop_shifts[0]
        self._known[1:-1, self._of_action] = -self._w.lead
        self._barred[1:] -= self._w.lead

    def _keep_habit(self) -> None:
        """STOP has its shift of this length, and the next record in order needs no lead."""
        known, lead = self._known, self._w.lead
        shift = self._stop_shifts[min(len(self.chosen), len(self._stop_shifts) - 1)]
        known[-1, -1] += shift - known[-1, self._of_stop]
        known[-1, self._of_stop] = shift
        if not len(self._barred) or self._barred[self._next] > _NEVER_TAKEN:
            return
        first = int(self.feasible.argmax())
        if first != self._next:  # the former is taken or does not fit any more
            known[[self._next, first], self._of_action] = -lead, 0
            self._barred[first] += lead
            self._next = first

    def _compare(self, place: int) -> None:
        """Likeness of every record to what is chosen."""
        highest, mean = self._numbers[:2, :-1], self._numbers[2:DYNAMIC, :-1]
        columns = self._likeness[:, place]  # symmetric
        if len(self.chosen) == 1:
            highest[:] = columns[:2]
        else:
            np.maximum(highest, columns[:2], out=highest)
        self._sums += columns[1:]
        np.divide(self._sums, np.float32(len(self.chosen)), out=mean)

    def _advance(self, place: int) -> None:
        """z: one step of the GRU, or the mean of what is chosen."""
        z = self._profile
        if self._w.of_mean is not None:
            weight, bias = self._w.of_mean
            self._profile = self._record[self.chosen].mean(axis=0) @ weight + bias
            return
        h, given, read = len(z), self._inputs[place], self._read
        gates = np.tanh(given[: 2 * h] + read[: 2 * h])
        gates += 1
        fresh = np.tanh(given[2 * h :] + gates[:h] * read[2 * h : 3 * h])
        kept = (z - fresh) * gates[h:]
        kept *= _HALF
        self._profile = fresh + kept
