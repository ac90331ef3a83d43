"""The training module as a policy, one request at a time: what the fast runtimes are compared with.

In: a controller and features. Out: a profile. Nothing is rewritten or folded, and nothing slowed
down either: the request is encoded once, and every step is one call of the module.
"""

from __future__ import annotations

import numpy as np
import torch

from enough.controller.batches import collate_requests
from enough.controller.checkpoint import Trained
from enough.controller.examples import budget_features
from enough.controller.features import PoolFeatures
from enough.controller.losses import net_value
from enough.controller.model import States
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import L_REF


@torch.no_grad()
def module_profile(trained: Trained, features: PoolFeatures, length: int) -> Profile:
    """A profile of `length` records, or as many as horizon and room allow; STOP is not asked."""
    model, point = trained.model, trained.point
    requests = collate_requests([features], model.tasks)
    encoded = model.encode(requests)
    chosen: list[int] = []
    while len(chosen) < min(length, features.max_records):
        spent = int(features.tokens[chosen].sum())
        is_open = features.tokens <= features.room - spent
        is_open[chosen] = False
        if not is_open.any():
            break
        budget = budget_features(
            np.array([spent / L_REF], np.float32),
            np.array([features.max_records - len(chosen)], np.float32),
            np.array([features.room - spent], np.float32),
        )
        states = States(
            torch.zeros(1, dtype=torch.int64),
            torch.tensor([chosen or [0]]),
            torch.tensor([len(chosen)]),
            torch.from_numpy(budget),
        )
        actions, _ = model(requests, encoded, states)
        net = net_value(actions[0], point.beta, point.lambda_).numpy()
        chosen.append(int(np.where(is_open, net, -np.inf).argmax()))
    return tuple(chosen)
