"""How a controller does on labelled requests it was not trained on, and its stop temperature.

In: a controller and labelled requests. Out: what its policy realises within the sampled trees, what
it had promised (their difference is the optimism gap), and how well its margin tells the teacher's
stops. The policy chooses among labelled actions only, because only their outcomes are known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from enough.controller.calibration_measures import (
    auroc,
    calibration_error,
    mean_auroc,
    sigmoid,
)
from enough.controller.examples import LabelledRequest, StateRows
from enough.controller.habit import PLAIN, Habit
from enough.controller.labelled import Labelled
from enough.controller.model import Controller
from enough.controller.rollout import tree_values
from enough.prompts.prompter import L_REF
from enough.teacher.backup import feasible_actions
from enough.teacher.components import TargetConfig
from enough.teacher.utility import Values

NetValues = tuple[Values, Values]
"""Predicted at every profile of a tree: of records, [n, N], and of STOP, [n]."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What the controller thinks of one request's profiles: as it is compared, and by itself.

    They differ where there is a habit, which weighs choices and promises nothing.
    """

    compared: NetValues
    own: NetValues


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


_NEWTON_STEPS, _FARTHEST = 40, 20.0  # of the offset


@dataclass(frozen=True, slots=True)
class StopQuality:
    """How well margins tell at which fully expanded states the teacher stops.

    Attributes:
        states: how many there are.
        teacher_stop_share: at how many of them the teacher stops.
        auroc: pooled; None where the teacher always or never stops.
        auroc_within_tasks: mean over the tasks that have both kinds.
        tasks_with_both: how many these are.
        temperature_before: T_s before it was fitted: of training, or of the controller as it was.
        ece_before: calibration error of σ(Δ/T_s) with it, 10 bins.
        ece: that of σ(Δ/T_s + b) as fitted; in a report of training, on the states it was fitted
            to.
        mean_probability: of stopping, by the same.
    """

    states: int
    teacher_stop_share: float | None
    auroc: float | None
    auroc_within_tasks: float | None
    tasks_with_both: int
    temperature_before: float
    ece_before: float | None
    ece: float | None
    mean_probability: float | None


@dataclass(frozen=True, slots=True, eq=False)
class StopDecisions:
    """Predicted margins Δ, the teacher's decisions, and the task of each fully expanded state."""

    margins: Values
    stops: NDArray[np.bool_]
    tasks: tuple[str, ...]


def net_values(
    model: Controller, labelled: Labelled, point: TargetConfig, habit: Habit = PLAIN
) -> list[Predicted]:
    """What the controller thinks of all profiles of all requests."""
    found = tree_values(model, labelled.requests, labelled.rows, point)
    return [
        Predicted(
            habit.weighed(
                *own,
                request.tree.lengths.astype(np.int64),
                feasible_actions(request.tree),
                task=request.features.task,
                point=point,
            ),
            own,
        )
        for request, own in zip(labelled.requests, found, strict=True)
    ]


def tree_policy(
    request: LabelledRequest, rows: StateRows, predicted: Predicted
) -> tuple[int, float]:
    """Node at which the greedy policy ends within one tree, and what its first choice promised."""
    actions, stop = predicted.compared
    own_actions, own_stop = predicted.own
    node_of = {profile: node for node, profile in enumerate(request.tree.profiles)}
    row_of = {int(node): row for row, node in enumerate(rows.expanded)}
    node, promised = 0, float(own_stop[0])
    while (row := row_of.get(node)) is not None:
        values = np.where(rows.is_labelled[row], actions[node], -np.inf)
        best = int(values.argmax())
        if not values[best] > stop[node]:
            break
        if node == 0:
            promised = float(own_actions[0, best])
        node = node_of[(*request.tree.profiles[node], best)]
    return node, promised


def judge(labelled: Labelled, predicted: Sequence[Predicted], point: TargetConfig) -> list[Judged]:
    """One line per task, then one for all requests."""
    lines: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for request, rows, values in zip(labelled.requests, labelled.rows, predicted, strict=True):
        node, promised = tree_policy(request, rows, values)
        net = request.components.net(point)
        line = (
            float(net[node]),
            promised,
            promised - float(net[node]),
            float(net.max()),
            float(request.components.gain[node]),
            float(request.tree.cost[node] * L_REF),
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


def stop_decisions(labelled: Labelled, predicted: Sequence[Predicted]) -> StopDecisions:
    """At all fully expanded states."""
    margins: list[float] = []
    stops: list[bool] = []
    tasks: list[str] = []
    for request, rows, values in zip(labelled.requests, labelled.rows, predicted, strict=True):
        actions, stop = values.compared
        for row in np.flatnonzero(rows.is_full):
            node = rows.expanded[row]
            best = np.where(rows.is_feasible[row], actions[node], -np.inf).max()
            margins.append(float(stop[node] - best))
            stops.append(bool(rows.stop_margin[row] >= 0))
            tasks.append(request.features.task)
    return StopDecisions(np.array(margins, np.float64), np.array(stops, np.bool_), tuple(tasks))


def fit_stop_calibration(margins: Values, stops: NDArray[np.bool_]) -> tuple[float, float]:
    """T_s and b that make σ(Δ/T_s + b) the most likely probabilities of the teacher's stops.

    The paper has no b. The teacher decides with the reference known, a cross-fitted controller
    does not: its margins lie elsewhere, and no temperature can shift them.
    """
    if not len(margins):
        return 1.0, 0.0
    grid = np.exp(np.linspace(np.log(0.01), np.log(100), 200))[:, None]  # [t, 1]
    scaled = margins / grid  # [t, n]
    offset = np.zeros_like(grid)
    for _ in range(_NEWTON_STEPS):
        probability = sigmoid(scaled + offset)
        slope = (probability - stops).mean(axis=1, keepdims=True)
        bend = (probability * (1 - probability)).mean(axis=1, keepdims=True)
        offset = np.clip(offset - slope / (bend + 1e-3), -_FARTHEST, _FARTHEST)
    signed = np.where(stops, scaled + offset, -(scaled + offset))
    best = int(np.logaddexp(0, -signed).mean(axis=1).argmin())
    return float(grid[best, 0]), float(offset[best, 0])


def stop_quality(
    found: StopDecisions, before: float, temperature: float, offset: float
) -> StopQuality:
    """Measures of the margins, with T_s as it was in training, and with T_s and b as fitted."""
    margins, stops = found.margins, found.stops
    within, count = mean_auroc(margins, stops, found.tasks)
    probability = sigmoid(margins / temperature + offset)
    return StopQuality(
        states=len(stops),
        teacher_stop_share=float(stops.mean()) if len(stops) else None,
        auroc=auroc(margins, stops),
        auroc_within_tasks=within,
        tasks_with_both=count,
        temperature_before=before,
        ece_before=calibration_error(sigmoid(margins / before), stops),
        ece=calibration_error(probability, stops),
        mean_probability=float(probability.mean()) if len(stops) else None,
    )
