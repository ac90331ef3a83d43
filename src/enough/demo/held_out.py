"""A controller against the bounded teacher, on requests nothing was learnt or chosen on.

In: a controller with its frozen T_s, and labelled requests of other users. Out: how well it tells
the teacher's stops, how calibrated that is, and by how much it promises too much within the trees.
"""

from __future__ import annotations

from dataclasses import dataclass

from enough.controller.checkpoint import Trained
from enough.controller.crossfit import plain_targets
from enough.controller.judging import (
    Judged,
    StopQuality,
    judge,
    net_values,
    stop_decisions,
    stop_quality,
)
from enough.controller.labelled import Labelled
from enough.controller.labelled_folder import LabelledData


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Stopping over all decisions, and what the policy realises, by task and over all."""

    stopping: StopQuality
    judged: tuple[Judged, ...]


def held_out_quality(trained: Trained, data: LabelledData) -> HeldOut:
    """Measured with the temperature that training froze."""
    targets = plain_targets(data.requests, trained.point, "hindsight")
    labelled = Labelled.of(data.requests, targets)
    predicted = net_values(trained.model, labelled, trained.point, trained.habit)
    temperature = trained.stop_temperature
    decisions = stop_decisions(labelled, predicted)
    quality = stop_quality(decisions, temperature, temperature, trained.stop_offset)
    return HeldOut(quality, tuple(judge(labelled, predicted, trained.point)))
