"""The greedy policy of a trained controller on many requests at once (Eq. policy), and its values.

In: a controller and features. Out: profiles, as Algorithm 2 builds them: repeats and overflow are
masked, ties are STOP's. Also what the controller thinks actions and stopping are worth at every
profile of whole trees; by the latter cross-fitted backups choose leaves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from enough.controller.batches import collate_requests, whole_trees
from enough.controller.examples import LabelledRequest, StateRows, budget_features
from enough.controller.features import PoolFeatures
from enough.controller.habit import PLAIN, Habit
from enough.controller.losses import net_value
from enough.controller.model import Controller, States
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import L_REF
from enough.teacher.components import TargetConfig
from enough.teacher.utility import Values


@torch.no_grad()
def roll_out(
    model: Controller,
    features: Sequence[PoolFeatures],
    point: TargetConfig,
    at_least: int = 0,
    habit: Habit = PLAIN,
) -> list[tuple[Profile, float]]:
    """The profile chosen for each request, and its predicted net value from the root.

    Args:
        model: the controller.
        features: of the requests.
        point: β and λ.
        at_least: STOP is not taken before so many records, where there are any that fit.
        habit: what else decides.
    """
    requests = collate_requests(features, model.tasks)
    encoded = model.encode(requests)
    count, size = requests.is_there.shape
    chosen: list[list[int]] = [[] for _ in features]
    promised = np.zeros(count)
    active = list(range(count))
    depth = 0
    while active:
        spent = np.array([sum(int(features[i].tokens[p]) for p in chosen[i]) for i in active])
        left = np.array([features[i].max_records - len(chosen[i]) for i in active])
        room = np.array([features[i].room for i in active]) - spent
        places = np.zeros((len(active), max(depth, 1)), np.int64)
        for row, i in enumerate(active):
            places[row, : len(chosen[i])] = chosen[i]
        budget = budget_features(
            (spent / L_REF).astype(np.float32), left.astype(np.float32), room.astype(np.float32)
        )
        states = States(
            torch.tensor(active),
            torch.from_numpy(places),
            torch.full((len(active),), depth),
            torch.from_numpy(budget),
        )
        actions, stop = model(requests, encoded, states)
        net = net_value(actions, point.beta, point.lambda_).numpy()
        ends = net_value(stop, point.beta, point.lambda_).numpy()
        still = []
        for row, i in enumerate(active):
            is_open = np.zeros(size, np.bool_)
            n = len(features[i].tokens)
            is_open[:n] = (features[i].tokens <= room[row]) & (left[row] > 0)
            is_open[chosen[i]] = False
            weighed, end = habit.weighed(
                net[row : row + 1].astype(np.float64),
                ends[row : row + 1].astype(np.float64),
                np.array([depth]),
                is_open[None],
                task=features[i].task,
                point=point,
            )
            values = np.where(is_open, weighed[0], -np.inf)
            best = int(values.argmax())
            if depth == 0:
                promised[i] = net[row][best] if values[best] > end[0] else ends[row]
            must = depth < at_least and is_open.any()
            if must or values[best] > end[0]:
                chosen[i].append(best)
                still.append(i)
        active, depth = still, depth + 1
    return [(tuple(one), float(value)) for one, value in zip(chosen, promised, strict=True)]


def predicted_worth(
    model: Controller,
    requests: Sequence[LabelledRequest],
    rows: Sequence[StateRows],
    point: TargetConfig,
) -> list[Values]:
    """What the controller expects of stopping at each profile of every request's tree, [n] each."""
    return [stop for _, stop in tree_values(model, requests, rows, point)]


@torch.no_grad()
def tree_values(
    model: Controller,
    requests: Sequence[LabelledRequest],
    rows: Sequence[StateRows],
    point: TargetConfig,
) -> Iterator[tuple[Values, Values]]:
    """For every request the net values of records [n, N] and of STOP [n] at its n profiles."""
    left = iter(zip(requests, rows, strict=True))
    for collated, states in whole_trees([r.features for r in requests], rows, model.tasks):
        actions, stop = model(collated, model.encode(collated), states)
        parts = [
            net_value(part, point.beta, point.lambda_).numpy().astype(np.float64)
            for part in (actions, stop)
        ]
        start = 0
        for request, row in itertools.islice(left, len(collated.task)):
            b = slice(start, start + len(row.length))
            start = b.stop
            yield parts[0][b, : len(request.features.tokens)], parts[1][b]
