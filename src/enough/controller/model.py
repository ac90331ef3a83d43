"""The multi-head value controller Q_θ: for every action three outcomes of its continuation.

In: requests with their candidates, and states (what is chosen so far) of them. Out: normalised
gain, specificity and cost of every record action and of STOP [net-q]. A state is s = (q, z, r, b):
the request, an order-sensitive summary of the profile, a permutation-invariant one of what remains,
and the budget.

What is known is not predicted: STOP costs what was spent, the empty profile has no gain and no
specificity, and an action costs at least what was spent and its own record.

Shapes: R requests, N candidates, B states, H hidden, D embedding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from enough.controller.features import STATIC
from enough.errors import ConfigError

DYNAMIC = 4
"""Likeness of a candidate to what is chosen: records, actions, mean of actions, equal actions."""
BUDGET = 3
"""Cost so far, horizon left, room left."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Shape and variants of the controller.

    Attributes:
        dim: of the frozen encoder's vectors.
        hidden: width of everything else.
        heads: of the attention over what remains.
        ordered: whether the order of the profile counts (GRU) or not (mean): an ablation.
        single_head: predict the net value alone instead of three components: an ablation.
        features: use the numbers known before the answer beside the embeddings.
        additive: let these numbers speak for a record directly, task by task, and for a profile as
            the sum of its records; everything else is then what is learnt on top of that.
    """

    dim: int = 384
    hidden: int = 64
    heads: int = 4
    ordered: bool = True
    single_head: bool = False
    features: bool = True
    additive: bool = True

    def __post_init__(self) -> None:
        if self.hidden < 1 or self.hidden % self.heads:
            raise ConfigError("model.hidden must be a multiple of model.heads")

    @property
    def outputs(self) -> int:
        """Numbers predicted for an action."""
        return 1 if self.single_head else 3


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """R requests with N candidates each, padded.

    Attributes:
        query: [R, D].
        records: [R, N, D].
        actions: [R, N, D].
        static: [R, N, len(STATIC)].
        likeness: of records, of actions, and equal actions, [R, 3, N, N].
        cost: tokens of each record over L_ref, [R, N].
        is_there: false for padding, [R, N].
        task: number of the task, [R].
    """

    query: Tensor
    records: Tensor
    actions: Tensor
    static: Tensor
    likeness: Tensor
    cost: Tensor
    is_there: Tensor
    task: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """B states of those requests.

    Attributes:
        of: which request, [B].
        chosen: places in order, padded with 0, [B, K].
        length: how many are chosen, [B].
        budget: cost so far, horizon left, room left, [B, BUDGET].
    """

    of: Tensor
    chosen: Tensor
    length: Tensor
    budget: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What a request contributes to all of its states.

    Attributes:
        record: [R, N, H].
        keys: [R, N, H].
        values: [R, N, H].
        first: the first layer's part of every action, [R, N, H].
        query: [R, H].
        worth: what each record adds by its numbers alone, [R, N, 3 or 1].
    """

    record: Tensor
    keys: Tensor
    values: Tensor
    first: Tensor
    query: Tensor
    worth: Tensor


class Controller(nn.Module):
    """Q_θ."""

    def __init__(self, config: ModelConfig, tasks: Sequence[str]) -> None:
        super().__init__()
        h = config.hidden
        self.config = config
        self.tasks = {name: number for number, name in enumerate(tasks)}
        self.task = nn.Embedding(len(tasks), h)
        self.query = nn.Linear(config.dim, h)
        self.record = nn.Linear(config.dim, h)
        self.action = nn.Linear(config.dim, h, bias=False)
        self.static = nn.Linear(len(STATIC), h, bias=False)
        self.norm = nn.LayerNorm(h)
        self.profile = nn.GRU(h, h, batch_first=True) if config.ordered else nn.Linear(h, h)
        self.asks = nn.Linear(2 * h, h)
        self.keys = nn.Linear(h, h)
        self.values = nn.Linear(h, h)
        self.first = nn.Linear(h, h)
        self.dynamic = nn.Linear(DYNAMIC, h, bias=False)
        self.context = nn.Linear(3 * h + BUDGET, h)
        self.second = nn.Linear(h, config.outputs)
        self.stop_first = nn.Linear(3 * h + BUDGET, h)
        self.stop_second = nn.Linear(h, config.outputs)
        self.worth = nn.Parameter(torch.zeros(len(tasks), len(STATIC), config.outputs))
        # Fresh weights say nothing. If they did, a fit that is best after few steps would keep
        # their opinion of records, which is random.
        for layer in (self.second, self.stop_second):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def encode(self, requests: Requests) -> Encoded:
        """The part of the work that does not depend on the state."""
        task = self.task(requests.task)  # [R, H]
        mixed = self.record(requests.records) + self.action(requests.actions) + task[:, None]
        if self.config.features:
            mixed = mixed + self.static(requests.static)
        record = torch.relu(self.norm(mixed))  # [R, N, H]
        worth = self.worth[requests.task] * float(self.config.features and self.config.additive)
        return Encoded(
            record=record,
            keys=self.keys(record),
            values=self.values(record),
            first=self.first(record),
            query=torch.relu(self.query(requests.query) + task),
            worth=requests.static @ worth,
        )

    def forward(
        self, requests: Requests, encoded: Encoded, states: States
    ) -> tuple[Tensor, Tensor]:
        """Values of all record actions [B, N, 3] and of STOP [B, 3]; or [..., 1] of a single head.

        Actions that are chosen already or only padding get values, too; mask them.
        """
        is_chosen = chosen_mask(states, requests.is_there.shape[1])  # [B, N]
        z = self._profile(encoded, states)  # [B, H]
        q = encoded.query[states.of]
        rest = requests.is_there[states.of] & ~is_chosen
        r = self._remaining(encoded, states, torch.cat([q, z], dim=1), rest)
        context = torch.cat([q, z, r, states.budget], dim=1)
        hidden = encoded.first[states.of] + self.context(context)[:, None]  # [B, N, H]
        if self.config.features:
            hidden = hidden + self.dynamic(dynamic_features(requests, states))
        worth = encoded.worth[states.of]  # [B, N, 3]
        chosen_worth = (worth * is_chosen[..., None]).sum(1)  # [B, 3]
        actions = self.second(torch.relu(hidden)) + worth + chosen_worth[:, None]
        stop = self.stop_second(torch.relu(self.stop_first(context))) + chosen_worth
        return self._anchored(requests, states, actions, stop)

    def _profile(self, encoded: Encoded, states: States) -> Tensor:
        """z: of the chosen records in order, zeros for none, [B, H]."""
        sequence = encoded.record[states.of[:, None], states.chosen]  # [B, K, H]
        if isinstance(self.profile, nn.GRU):
            outputs, _ = self.profile(sequence)
            last = (states.length - 1).clamp(min=0)
            z = outputs[torch.arange(len(last), device=last.device), last]
        else:
            place = torch.arange(sequence.shape[1], device=sequence.device)
            inside = (place[None] < states.length[:, None]).unsqueeze(2)
            z = self.profile((sequence * inside).sum(1) / states.length.clamp(min=1)[:, None])
        return torch.where((states.length > 0)[:, None], z, torch.zeros_like(z))

    def _remaining(self, encoded: Encoded, states: States, asking: Tensor, rest: Tensor) -> Tensor:
        """r: attention of [q; z] over candidates that are left, zeros where there are none."""
        heads, size = self.config.heads, self.config.hidden // self.config.heads
        asks = self.asks(asking).view(-1, 1, heads, size)
        shape = (len(states.of), -1, heads, size)
        keys, values = (part[states.of].view(shape) for part in (encoded.keys, encoded.values))
        scores = (asks * keys).sum(3) / math.sqrt(size)  # [B, N, heads]
        scores = scores.masked_fill(~rest[:, :, None], -1e9)
        weights = torch.softmax(scores, dim=1) * rest.any(1)[:, None, None]
        summary: Tensor = (weights[..., None] * values).sum(1).flatten(1)  # [B, H]
        return summary

    def _anchored(
        self, requests: Requests, states: States, actions: Tensor, stop: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Put what is known in place of what would be predicted."""
        has_profile = (states.length > 0).to(stop.dtype)[:, None]
        if self.config.single_head:
            return actions, stop * has_profile
        spent = states.budget[:, :1]
        least = spent + requests.cost[states.of]  # [B, N]
        actions = torch.cat([actions[..., :2], actions[..., 2:] + least[..., None]], dim=2)
        return actions, torch.cat([stop[:, :2] * has_profile, spent], dim=1)


def chosen_mask(states: States, candidates: int) -> Tensor:
    """Which candidates are chosen, [B, N]."""
    place = torch.arange(states.chosen.shape[1], device=states.chosen.device)
    inside = place[None] < states.length[:, None]  # [B, K]
    mask = torch.zeros(len(states.of), candidates + 1, dtype=torch.bool, device=inside.device)
    # Padding is written to a column of its own, so that place 0 is not marked by it.
    mask.scatter_(1, torch.where(inside, states.chosen, candidates), True)
    return mask[:, :candidates]


def dynamic_features(requests: Requests, states: States) -> Tensor:
    """Likeness of every candidate to what is chosen, zeros for the empty profile, [B, N, 4]."""
    place = torch.arange(states.chosen.shape[1], device=states.chosen.device)
    inside = (place[None] < states.length[:, None])[:, None, None]  # [B, 1, 1, K]
    columns = states.chosen[:, None, None].expand(-1, 3, requests.is_there.shape[1], -1)
    to_chosen = requests.likeness[states.of].gather(3, columns)  # [B, 3, N, K]
    count = states.length.clamp(min=1)[:, None]
    highest = to_chosen[:, :2].masked_fill(~inside, -2.0).amax(3)  # [B, 2, N]
    mean = (to_chosen[:, 1:] * inside).sum(3) / count[..., None]  # [B, 2, N]
    features = torch.cat([highest, mean], dim=1).transpose(1, 2)
    return features * (states.length > 0)[:, None, None]
