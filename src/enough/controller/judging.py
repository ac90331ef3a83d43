"""How a controller does on labelled requests it was not trained on, and its stop temperature.

In: a controller and labelled requests. Out: what its policy realises within the sampled trees, what
it had promised (their difference is the optimism gap), and how well its margin tells the teacher's
stops. The policy chooses among labelled actions only, because only their outcomes are known.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from enough.controller.batches import collate_requests
from enough.controller.examples import StateRows
from enough.controller.losses import net_value
from enough.controller.model import Controller, States
from enough.controller.training import Labelled
from enough.teacher.components import TargetConfig
from enough.teacher.utility import Values


@dataclass(frozen=True, slots=True)
class Judged:
    """Means over requests of one task, or of all.

    Attributes:
        net: J of where the policy ends.
        promised: what it expected at the root.
        gap: promised minus net: its optimism.
        best: J of the best profile in the tree, reference known.
        gain, tokens, records: of where it ends.
        harm: share of requests that end below the empty profile.
        root_stop: share of requests without a profile.
    """

    task: str
    requests: int
    net: float
    promised: float
    gap: float
    best: float
    gain: float
    tokens: float
    records: float
    harm: float
    root_stop: float


@torch.no_grad()
def tree_policy(
    model: Controller, labelled: Labelled, place: int, point: TargetConfig
) -> tuple[int, float]:
    """Node at which the greedy policy ends within one tree, and its predicted value at the root."""
    request, rows = labelled.requests[place], labelled.rows[place]
    actions, stop = _values(model, labelled, place, point)
    node_of = {profile: node for node, profile in enumerate(request.tree.profiles)}
    row_of = {int(node): row for row, node in enumerate(rows.expanded)}
    node, promised = 0, None
    while True:
        row = row_of.get(node)
        best = -np.inf
        if row is not None:
            values = np.where(
                rows.is_labelled[row], actions[row, : rows.is_labelled.shape[1]], best
            )
            best = float(values.max())
        promised = max(best, float(stop[node])) if promised is None else promised
        if row is None or not best > stop[node]:
            return node, promised
        profile = request.tree.profiles[node]
        node = node_of[(*profile, int(values.argmax()))]


def _values(
    model: Controller, labelled: Labelled, place: int, point: TargetConfig
) -> tuple[Values, Values]:
    """Net values of actions at expanded states [e, N], and of STOP at all states [n]."""
    rows = labelled.rows[place]
    requests = collate_requests([labelled.requests[place].features], model.tasks)
    encoded = model.encode(requests)
    _, stop = model(requests, encoded, _states(rows, np.arange(len(rows.length))))
    net_stop = net_value(stop, point.beta, point.lambda_).numpy().astype(np.float64)
    if not len(rows.expanded):
        return np.zeros((0, requests.is_there.shape[1])), net_stop
    actions, _ = model(requests, encoded, _states(rows, rows.expanded))
    return net_value(actions, point.beta, point.lambda_).numpy().astype(np.float64), net_stop


def _states(rows: StateRows, which: NDArray[np.int64]) -> States:
    return States(
        torch.zeros(len(which), dtype=torch.int64),
        torch.from_numpy(rows.chosen[which]),
        torch.from_numpy(rows.length[which]),
        torch.from_numpy(rows.budget[which]),
    )


def judge(model: Controller, labelled: Labelled, point: TargetConfig) -> list[Judged]:
    """One line per task, then one for all requests."""
    lines: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for place, request in enumerate(labelled.requests):
        node, promised = tree_policy(model, labelled, place, point)
        net = request.components.net(point)
        line = (
            float(net[node]),
            promised,
            promised - float(net[node]),
            float(net.max()),
            float(request.components.gain[node]),
            float(request.tree.cost[node] * 1024),
            float(request.tree.lengths[node]),
            float(request.components.gain[node] < 0),
            float(node == 0),
        )
        lines[request.features.task].append(line)
        lines["all"].append(line)
    order = [*sorted(lines.keys() - {"all"}), "all"]
    return [
        Judged(task, len(lines[task]), *np.mean(lines[task], axis=0).tolist()) for task in order
    ]


@torch.no_grad()
def stop_decisions(
    model: Controller, labelled: Labelled, point: TargetConfig
) -> tuple[Values, NDArray[np.bool_]]:
    """Predicted margins and the teacher's decisions at all fully expanded states."""
    margins: list[float] = []
    stops: list[bool] = []
    for place, rows in enumerate(labelled.rows):
        actions, stop = _values(model, labelled, place, point)
        for row in np.flatnonzero(rows.is_full):
            size = rows.is_feasible.shape[1]
            best = np.where(rows.is_feasible[row], actions[row, :size], -np.inf).max()
            margins.append(float(stop[rows.expanded[row]] - best))
            stops.append(bool(rows.stop_margin[row] >= 0))
    return np.array(margins, np.float64), np.array(stops, np.bool_)


def fit_stop_temperature(margins: Values, stops: NDArray[np.bool_]) -> float:
    """T_s that makes σ(Δ/T_s) the most likely probabilities of the teacher's stops."""
    if not len(margins):
        return 1.0
    grid = np.exp(np.linspace(np.log(0.01), np.log(100), 400))
    signed = np.where(stops, margins, -margins)
    losses = [float(np.logaddexp(0, -signed / t).mean()) for t in grid]
    return float(grid[int(np.argmin(losses))])
