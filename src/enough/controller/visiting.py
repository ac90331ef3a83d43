"""The states a warm controller comes through: what a second round of labels is made for.

In: a trained controller and labelled requests. Out: for every request the non-empty prefixes of the
profile that its policy builds, by the name that labels use (appendix, policy-induced aggregation).
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.controller.checkpoint import Trained
from enough.controller.examples import LabelledRequest
from enough.controller.rollout import roll_out
from enough.controller.task_table import OTHER
from enough.errors import ConfigError
from enough.labels.visits import prefixes
from enough.prompts.profile_sequences import Profile

_TOGETHER = 256  # requests that are rolled out at once


def visited_states(
    trained: Trained, requests: Sequence[LabelledRequest], at_least: int = 0
) -> dict[str, tuple[Profile, ...]]:
    """Visited states by request; requests at which the policy stops at once have none.

    With `at_least` the policy is walked on to so many records where it would stop: what lies
    behind a STOP that came too early is seen by nobody otherwise.
    """
    unknown = sorted({r.features.task for r in requests} - trained.model.tasks.keys())
    if unknown and OTHER not in trained.model.tasks:
        known = ", ".join(trained.model.tasks)
        raise ConfigError(f"the controller was not trained on {unknown[0]}; it knows {known}")
    found = {}
    for start in range(0, len(requests), _TOGETHER):
        some = requests[start : start + _TOGETHER]
        features = [one.features for one in some]
        chosen = roll_out(trained.model, features, trained.point, at_least)
        for one, (profile, _) in zip(some, chosen, strict=True):
            found[f"{one.tree.of.task}/{one.tree.of.request}"] = prefixes([profile])
    return found
