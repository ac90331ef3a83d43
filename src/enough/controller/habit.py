"""What suits a task's average request, and how far decisions stay with it.

In: labels along the retriever's order. Out: `Habit`: the mean gain, specificity, cost and loss of
the retriever's first n records, task by task. With a trust s below 1, a record goes in if
s · (its net value − STOP's) + (1 − s) · (what the average request gains by going on) is above 0;
s → 0 is the best fixed length of every task. With an aversion ρ, what that request loses counts
1 + ρ times: a length that helps half of the requests and harms the others is not worth taking. With
a lead κ, a record out of the retriever's order
must be worth κ more than what stands before it. Predictions of single requests are noisy, and the
best of twenty noisy ones is mostly too good to be true; both ask for more than a lucky number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from enough.controller.examples import LabelledRequest
from enough.controller.task_table import OTHER
from enough.errors import ConfigError, DataError
from enough.teacher.components import TargetConfig
from enough.teacher.utility import Values, net_objective, utility

Curve = tuple[tuple[float, float, float, float], ...]
"""Mean (gain, specificity, cost, loss) of the retriever's first 0, 1, … records.

The loss of a request is its gain, where that is negative, without the sign.
"""


@dataclass(frozen=True, slots=True)
class HabitConfig:
    """How far decisions stay with what suits the average request.

    Attributes:
        trust: s, the weight of a request's own values against the average; 1 looks at them alone.
        lead: κ, what a record out of the retriever's order must be worth beyond those in it.
        aversion: ρ, how much more than gains losses count in what suits the average request.
    """

    trust: float = 1.0
    lead: float = 0.0
    aversion: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.trust <= 1:
            raise ConfigError(f"habit.trust must be above 0 and at most 1, not {self.trust}")
        if not self.lead >= 0:
            raise ConfigError(f"habit.lead must not be negative, but is {self.lead}")
        if not self.aversion >= 0:
            raise ConfigError(f"habit.aversion must not be negative, but is {self.aversion}")
        if self.aversion > 0 and self.trust == 1:
            raise ConfigError("habit.aversion changes nothing with a habit.trust of 1: give less")


@dataclass(frozen=True, slots=True)
class Habit:
    """The settings, and what the average request of every task looks like.

    Attributes:
        config: trust, lead and aversion.
        curves: by task, all of one length; empty where trust is 1.
    """

    config: HabitConfig = field(default_factory=HabitConfig)
    curves: Mapping[str, Curve] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether values are compared as they are."""
        return self.config.lead == 0 and not self.curves

    def stop_shifts(self, task: str, point: TargetConfig) -> Values:
        """What is added to STOP's net value with 0, 1, … records, [K + 1]."""
        curve = self.curves.get(task, self.curves.get(OTHER))
        if curve is None:
            return np.zeros(1)
        gain, specificity, cost, loss = np.array(curve).T
        net = net_objective(utility(gain, specificity, point.beta), cost, point.lambda_)
        net -= self.config.aversion * loss
        ahead = np.maximum.accumulate(net[::-1])[::-1]  # the best from each length on
        trust = self.config.trust
        shifts = np.zeros(len(net))  # at the horizon there is nothing to compare with
        shifts[:-1] = -(1 - trust) / trust * (ahead[1:] - net[:-1])
        return shifts

    def weighed(
        self,
        net: Values,
        stop: Values,
        taken: NDArray[np.int64],
        is_open: NDArray[np.bool_],
        *,
        task: str,
        point: TargetConfig,
    ) -> tuple[Values, Values]:
        """Net values as they are compared, at n states of one task with N candidates.

        Args:
            net: of records, [n, N].
            stop: of STOP, [n].
            taken: records of each state, [n].
            is_open: which records may be taken, [n, N]; the first of them is next in order.
            task: its name.
            point: β and λ.
        """
        if self.is_plain:
            return net, stop
        shifts = self.stop_shifts(task, point)
        late = np.ones_like(is_open)
        late[np.arange(len(late)), is_open.argmax(axis=1)] = False
        return net - self.config.lead * late, stop + shifts[np.minimum(taken, len(shifts) - 1)]

    def as_table(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {**asdict(self.config), "curves": {k: list(v) for k, v in self.curves.items()}}

    @classmethod
    def of_table(cls, table: Mapping[str, object]) -> Habit:
        """The inverse of `as_table`."""
        found = dict(table)
        curves = found.pop("curves")
        assert isinstance(curves, dict)
        return cls(
            HabitConfig(**found),  # type: ignore[arg-type]
            {task: _curve(np.array(rows, np.float64)) for task, rows in curves.items()},
        )


PLAIN = Habit()
"""Values are compared as they are."""


def learn_habit(config: HabitConfig, requests: Sequence[LabelledRequest], horizon: int) -> Habit:
    """The curves of all tasks, and their mean for any other task.

    Raises:
        DataError: if the labels do not go along the retriever's order.
    """
    if config.trust == 1:
        return Habit(config)
    of_task: dict[str, list[NDArray[np.float64]]] = {}
    for one in requests:
        node_of = {profile: node for node, profile in enumerate(one.tree.profiles)}
        walk = one.tree.of.in_order
        try:
            nodes = [node_of[walk[:n]] for n in range(len(walk) + 1)]
        except KeyError:
            raise DataError(
                f"{one.name}: has no labels along the retriever's order, which habit.trust needs; "
                "make them with `enough aggregate --walk retriever`"
            ) from None
        nodes += nodes[-1:] * (horizon + 1 - len(nodes))
        parts = one.components
        loss = np.maximum(-parts.gain, 0.0)
        values = np.stack([parts.gain, parts.specificity, parts.cost, loss], axis=1)[nodes]
        of_task.setdefault(one.tree.of.task, []).append(values)
    means = {task: np.mean(values, axis=0) for task, values in sorted(of_task.items())}
    means[OTHER] = np.mean(list(means.values()), axis=0)
    return Habit(config, {task: _curve(mean) for task, mean in means.items()})


def _curve(mean: NDArray[np.float64]) -> Curve:
    return tuple((float(g), float(p), float(c), float(loss)) for g, p, c, loss in mean)
