"""The states a warm controller comes through: what a second round of labels is made for.

In: a trained controller and labelled requests. Out: for every request the non-empty prefixes of the
profile that its policy builds, by the name that labels use (appendix, policy-induced aggregation).
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.controller.checkpoint import Trained
from enough.controller.examples import LabelledRequest
from enough.controller.task_table import OTHER
from enough.controller.walks import Walks, walks_of
from enough.errors import ConfigError
from enough.labels.visits import prefixes
from enough.prompts.profile_sequences import Profile


def visited_states(
    trained: Trained, requests: Sequence[LabelledRequest]
) -> dict[str, tuple[Profile, ...]]:
    """Visited states by request; requests at which the policy stops at once have none."""
    return states_along([controller_walks(trained, requests)])


def controller_walks(
    trained: Trained, requests: Sequence[LabelledRequest], at_least: int = 0
) -> dict[str, Profile]:
    """The profile that the policy builds for each request.

    With `at_least` the policy is walked on to so many records where it would stop: what lies
    behind a STOP that came too early is seen by nobody otherwise.
    """
    unknown = sorted({r.features.task for r in requests} - trained.model.tasks.keys())
    if unknown and OTHER not in trained.model.tasks:
        known = ", ".join(trained.model.tasks)
        raise ConfigError(f"the controller was not trained on {unknown[0]}; it knows {known}")
    return walks_of(trained.model, requests, trained.point, at_least, trained.habit)


def states_along(several: Sequence[Walks]) -> dict[str, tuple[Profile, ...]]:
    """Every state on these ways, each once."""
    names = dict.fromkeys(name for walks in several for name in walks)
    return {name: prefixes([walks[name] for walks in several if name in walks]) for name in names}
