"""Algorithm 2: append the record with the highest net value, or stop; at most K_max steps.

In: a request, its pool and budget. Out: a `Selection`, or a `Trace` of every step's values. Repeats
and overflow are masked, ties are STOP's. No reference, matched record, likelihood or generator can
be reached from here: a request has no answer, and nothing else is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from enough.controller.checkpoint import Trained
from enough.controller.features import PoolFeatures, featurise
from enough.controller.task_table import OTHER, task_number
from enough.errors import ConfigError
from enough.online.fast_controller import FastController, StepValues
from enough.prompts.profile_sequences import Profile
from enough.protocols import Budget, Encoder
from enough.records import Pool, Request, Selection


@dataclass(frozen=True, slots=True)
class Step:
    """One decision.

    Attributes:
        values: of every record and of STOP.
        margin: Q_net(STOP) minus the best record's; +∞ where no record may be taken.
        stop_probability: σ(margin / T_s + b): how likely the teacher would stop here.
        taken: the place of the record that was appended, or None for STOP.
    """

    values: StepValues
    margin: float
    stop_probability: float
    taken: int | None


@dataclass(frozen=True, slots=True)
class Trace:
    """All decisions of one request; the last is STOP unless horizon, room or force ended it.

    Attributes:
        steps: in order.
        profile: places of the records, in prompt order.
        tokens: what they add to the prompt.
        reason: why it ended there.
    """

    steps: tuple[Step, ...]
    profile: Profile
    tokens: int
    reason: str


class ControllerPolicy:
    """Implements `protocols.Selector` with a trained controller and its encoder.

    Args:
        trained: the controller.
        encoder: the one it was trained with.
        forced_length: take this many records where horizon and room allow it, whatever STOP is
            worth, and then stop: an ablation. None decides freely.
    """

    def __init__(
        self, trained: Trained, encoder: Encoder, *, forced_length: int | None = None
    ) -> None:
        if forced_length is not None and forced_length < 0:
            raise ConfigError("forced_length must be at least 0")
        self._fast = FastController(trained)
        self._encoder = encoder
        self._temperature, self._offset = trained.stop_temperature, trained.stop_offset
        self._forced_length = forced_length

    @property
    def tasks(self) -> set[str]:
        """What it was trained on, by name."""
        return set(self._fast.tasks) - {OTHER}

    def require_task(self, task: str) -> None:
        """Refuse a task it has no row for; raises UnknownNameError."""
        task_number(self._fast.tasks, task)

    def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
        """The records the controller takes, in order."""
        trace = self.trace(request, pool, budget)
        return Selection(tuple(pool[place].record for place in trace.profile), trace.reason)

    def trace(self, request: Request, pool: Pool, budget: Budget) -> Trace:
        """The same with every step's values."""
        self.require_task(request.task.name)  # refused before anything is embedded
        return self.decide(featurise(request, pool, budget, self._encoder))

    def decide(self, features: PoolFeatures) -> Trace:
        """Algorithm 2 on features that are known already."""
        walk = self._fast.start(features)
        steps: list[Step] = []
        forced = self._forced_length
        n = len(features.tokens)
        reason = why_no_further(0, n, features.max_records) if n else "nothing to choose from"
        while walk.feasible.any():
            if len(walk.chosen) == forced:
                reason = "forced length"
                break
            values = walk.values()
            best = int(values.net.argmax())
            margin = values.net_stop - float(values.net[best])
            stops = not margin < 0 and forced is None
            probability = _sigmoid(margin / self._temperature + self._offset)
            steps.append(Step(values, margin, probability, None if stops else best))
            if stops:
                reason = "nothing is worth its tokens" if not walk.chosen else "enough"
                break
            walk.take(best)
            reason = why_no_further(len(walk.chosen), len(features.tokens), features.max_records)
        return Trace(tuple(steps), tuple(walk.chosen), walk.tokens, reason)


def why_no_further(taken: int, pool: int, most: int) -> str:
    """What ended a profile that nobody stopped."""
    if taken == pool:
        return "every candidate is in"
    return "as many as may be" if taken == most else "no further record fits"


def _sigmoid(x: float) -> float:
    return 0.5 * (1 + math.tanh(x / 2))
