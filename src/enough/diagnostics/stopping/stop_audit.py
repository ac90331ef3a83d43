"""What is wrong with where a policy ended, by the values of the bounded teacher.

In: what STOP and the best continuation are worth at every prefix of one trajectory. Out: the
events premature and late, which are no partition, and what each lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from enough.controller.examples import LabelledRequest
from enough.errors import DataError
from enough.prompts.profile_sequences import Profile
from enough.teacher.backup import best_leaves, feasible_actions
from enough.teacher.components import TargetConfig

STOPPED, HORIZON, NO_ROOM = "stopped", "horizon", "no room"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A policy's way through one request, from the empty profile to where it ended.

    Attributes:
        stop_values: J of every prefix, its own end last.
        continue_values: the highest J that the teacher's tree has below each prefix; None where no
            record may be taken.
        ending: "stopped" by its own decision, "horizon" at K_max records, "no room" where nothing
            that is left fits, or nothing is left.
    """

    stop_values: tuple[float, ...]
    continue_values: tuple[float | None, ...]
    ending: str


@dataclass(frozen=True, slots=True)
class StopAudit:
    """Events of one trajectory.

    Attributes:
        is_premature: it stopped where the best continuation is worth strictly more than STOP.
        premature_loss: that continuation less STOP there; 0 otherwise.
        is_late: at an earlier prefix the teacher preferred STOP (ties are STOP's).
        late_loss: J at the first such prefix less J at the end; 0 otherwise.
        best_length: records of that prefix; None if there is none.
    """

    is_premature: bool
    premature_loss: float
    is_late: bool
    late_loss: float
    best_length: int | None

    @property
    def loss(self) -> float:
        """The benchmark less what was realised: the larger of the two losses.

        Where both happen the benchmark is the earlier prefix: no continuation of it is worth more,
        so none of the end's is.
        """
        return max(self.premature_loss, self.late_loss)


def audit(trajectory: Trajectory) -> StopAudit:
    """Events and losses; neither loss can be negative, since the end lies below each prefix."""
    stops, continues = trajectory.stop_values, trajectory.continue_values
    realised, further = stops[-1], continues[-1]
    shortfall = 0.0 if further is None else max(0.0, further - realised)
    earlier = zip(stops[:-1], continues[:-1], strict=True)
    preferred = [i for i, (own, on) in enumerate(earlier) if on is None or own >= on]
    first = preferred[0] if preferred else None
    return StopAudit(
        is_premature=shortfall > 0,
        premature_loss=shortfall,
        is_late=first is not None,
        late_loss=0.0 if first is None else stops[first] - realised,
        best_length=first,
    )


def trajectory_of(request: LabelledRequest, profile: Profile, point: TargetConfig) -> Trajectory:
    """A policy's trajectory within a tree in which all its states are fully expanded.

    Raises:
        DataError: if one is not, because then the best continuation is not known.
    """
    tree = request.tree
    net = request.components.net(point)
    leaf = best_leaves(tree.parents, tree.lengths, net)
    node_of = {found: node for node, found in enumerate(tree.profiles)}
    is_open = feasible_actions(tree)
    stops: list[float] = []
    continues: list[float | None] = []
    for length in range(len(profile) + 1):
        node = node_of.get(profile[:length], -1)
        actions = np.flatnonzero(tree.parents == node) if node >= 0 else np.empty(0, np.int64)
        if node < 0 or len(actions) < is_open[node].sum():
            raise DataError(
                f"the labels of request {tree.of.request!r} do not hold what follows {profile}; "
                "delete the held-out labels of the study to make them anew"
            )
        stops.append(float(net[node]))
        continues.append(float(net[leaf[actions]].max()) if len(actions) else None)
    ending = STOPPED
    if continues[-1] is None:
        ending = HORIZON if len(profile) >= tree.of.max_records else NO_ROOM
    return Trajectory(tuple(stops), tuple(continues), ending)
