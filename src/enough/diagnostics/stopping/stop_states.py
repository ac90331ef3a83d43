"""Stop probabilities and the teacher's decisions at states: rows, and measures with intervals.

In: rows. Out: Brier score, ECE, AUROC and AUPRC, pooled and within tasks, users redrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from enough.config import require_at_least
from enough.controller.calibration_measures import auroc, calibration_error
from enough.diagnostics.stopping.calibration_curve import (
    Bools,
    Floats,
    Index,
    average_precision,
    brier,
    resampled,
    within_groups,
)
from enough.evaluation.intervals import Interval, clustered

Measure = Callable[[Floats, Bools], float | None]


@dataclass(frozen=True, slots=True)
class StopCalibrationConfig:
    """Where the probability is compared.

    Attributes:
        requests: of each task, of the reported split; 0 takes all.
        visited: also expand the states that the policy itself comes through, as `stop-errors` does.
        bins: of equal width.
    """

    requests: int = 50
    visited: bool = True
    bins: int = 5

    def __post_init__(self) -> None:
        require_at_least(self, {"requests": 0, "bins": 1}, "stop-calibration.")


@dataclass(frozen=True, slots=True)
class StopStateRow:
    """One fully expanded state of a held-out tree.

    Attributes:
        records: of the profile.
        margin: Δ of the controller: Q_net of STOP less that of the best feasible record.
        probability: σ(Δ/T_s + b).
        teacher_stops: I[Δ_T ≥ 0] of the bounded teacher.
    """

    task: str
    request_id: str
    user: str
    records: int
    margin: float
    probability: float
    teacher_stops: bool

    @property
    def cluster(self) -> str:
        """Whom intervals resample: the user within the task, since logs may share names."""
        return f"{self.task}/{self.user}"


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """The same as arrays, [n] each; tasks are numbered.

    Ranks are those of margins: probabilities are 0 or 1 for all that are far away.
    """

    margin: Floats
    probability: Floats
    stops: Bools
    tasks: Index
    users: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[StopStateRow]) -> States:
        """At least one row."""
        number = {task: i for i, task in enumerate(sorted({row.task for row in rows}))}
        return cls(
            np.array([row.margin for row in rows], np.float64),
            np.array([row.probability for row in rows], np.float64),
            np.array([row.teacher_stops for row in rows], np.bool_),
            np.array([number[row.task] for row in rows], np.int64),
            tuple(row.cluster for row in rows),
        )


@dataclass(frozen=True, slots=True)
class Measures:
    """How the probability agrees with the teacher.

    Attributes:
        states, users: how many there are.
        stop_share: of states at which the teacher stops.
        probability: mean of the controller's.
        auroc, auprc: None where the teacher always decides alike.
    """

    states: int
    users: int
    stop_share: Interval
    probability: Interval
    brier: Interval
    ece: Interval
    auroc: Interval | None
    auprc: Interval | None


@dataclass(frozen=True, slots=True)
class WithinTasks:
    """Means over the tasks in which the teacher decides both ways, and how many these are."""

    tasks: int
    auroc: Interval | None
    auprc: Interval | None


def measures(states: States, bins: int) -> Measures:
    """Over all states together; users are redrawn for each measure."""
    p, y, users = states.probability, states.stops, states.users

    def over(measure: Measure, of: Floats) -> Interval | None:
        return resampled(lambda at: measure(of[at], y[at]), users)

    ece, squared = over(lambda a, b: calibration_error(a, b, bins), p), over(brier, p)
    if ece is None or squared is None:
        raise ValueError("no states")
    return Measures(
        states=len(p),
        users=len(set(users)),
        stop_share=clustered(y.astype(np.float64), users),
        probability=clustered(p, users),
        brier=squared,
        ece=ece,
        auroc=over(auroc, states.margin),
        auprc=over(average_precision, states.margin),
    )


def within_tasks(states: States) -> WithinTasks:
    """The same for what is told apart inside each task."""
    ranks, y, tasks = states.margin, states.stops, states.tasks

    def within(measure: Measure) -> Interval | None:
        return resampled(
            lambda at: within_groups(measure, ranks[at], y[at], tasks[at]), states.users
        )

    both = sum(len(set(y[tasks == task].tolist())) == 2 for task in np.unique(tasks))
    return WithinTasks(both, within(auroc), within(average_precision))
