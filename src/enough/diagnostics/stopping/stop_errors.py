"""Does the policy stop too early or too late? Its own trajectories against the bounded teacher.

In: trees of held-out requests in which every state that the policy comes through is expanded. Out:
a row for each request (paper: appendix, residual stopping errors). Premature, late and forced are
separate events, no partition. The loss of a request is the audit's benchmark less the realised J:
for a premature stop the shortfall to the best continuation there, for a late one J at the first
prefix where the teacher preferred STOP less J at the end, the larger where both happen, else 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from enough.config import require_at_least
from enough.controller.visiting import visited_states
from enough.diagnostics.diagnostic import About, Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import (
    Dot,
    DotChart,
    Format,
    Panel,
    Section,
    Value,
    table,
)
from enough.diagnostics.stopping.held_out_trees import held_out
from enough.diagnostics.stopping.stop_audit import HORIZON, NO_ROOM, StopAudit, audit, trajectory_of
from enough.diagnostics.summaries import share_in_words
from enough.diagnostics.told_apart import differs
from enough.evaluation.intervals import Interval, clustered

PAPER = (("premature", 0.088), ("late", 0.107), ("forced at K_max", 0.030))
PAPER_LOSS = 0.076


@dataclass(frozen=True, slots=True)
class StopErrorsConfig:
    """How many reported requests of each task get trees; 0 takes all."""

    requests: int = 50

    def __post_init__(self) -> None:
        require_at_least(self, {"requests": 0}, "stop-errors.")


@dataclass(frozen=True, slots=True)
class StopErrorRow:
    """One request.

    Attributes:
        ending: "stopped", "horizon" or "no room" (`stop_audit.Trajectory`).
        records: of the profile it ended with.
        net: J of that, as the teacher estimates it.
        audit: its errors.
    """

    task: str
    request_id: str
    user: str
    ending: str
    records: int
    net: float
    audit: StopAudit

    @property
    def cluster(self) -> str:
        """Whom intervals resample: the user within the task, since logs may share names."""
        return f"{self.task}/{self.user}"


def measure(lab: Laboratory, config: StopErrorsConfig) -> list[StopErrorRow]:
    """One row for each held-out request."""
    trained = lab.study.trained
    data = held_out(lab, config.requests, visited=True)
    visited = visited_states(trained, data.requests)
    rows = []
    for request in data.requests:
        of = request.tree.of
        states = visited[of.name]
        profile = states[-1] if states else ()  # prefixes come in order, the whole profile last
        found = trajectory_of(request, profile, trained.point)
        rows.append(
            StopErrorRow(
                task=of.task,
                request_id=of.request,
                user=of.user,
                ending=found.ending,
                records=len(profile),
                net=found.stop_values[-1],
                audit=audit(found),
            )
        )
    return rows


Event = Callable[[StopErrorRow], bool]
_EVENTS: Mapping[str, Event] = {
    "premature": lambda row: row.audit.is_premature,
    "late": lambda row: row.audit.is_late,
    "forced at K_max": lambda row: row.ending == HORIZON,
    "no room": lambda row: row.ending == NO_ROOM,
    "premature and late": lambda row: row.audit.is_premature and row.audit.is_late,
    "neither premature nor late": lambda row: not (row.audit.is_premature or row.audit.is_late),
}
_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Event", "text"),
    ("Requests", "count"),
    ("Rate", "share"),
    ("Loss of these", "number"),
    ("Its part of the mean loss", "number"),
)
_TASK_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Task", "text"),
    ("Requests", "count"),
    ("Premature", "share"),
    ("Late", "share"),
    ("Forced at K_max", "share"),
    ("No room", "share"),
    ("Mean loss", "number"),
)


def section(rows: Sequence[StopErrorRow], config: StopErrorsConfig, about: About) -> Section:
    """Rates and losses, over all requests and by task."""
    rates = {name: _rate(rows, event) for name, event in _EVENTS.items()}
    tasks = sorted({row.task for row in rows})
    grouped = [("all", rows), *((task, [r for r in rows if r.task == task]) for task in tasks)]
    return Section(
        name="stop-errors",
        title="Stopping errors",
        question="Does the policy stop too early or too late?",
        answer=_answer(rows, rates),
        panels=(
            Panel(
                "Events of the policy's trajectories; they may overlap.",
                table(_COLUMNS, [_line(name, rows) for name in _EVENTS]),
                (_dots("Rates of events", {name: rates[name] for name in list(_EVENTS)[:4]}),),
            ),
            Panel(
                "By task.",
                table(_TASK_COLUMNS, [_task_line(name, some) for name, some in grouped]),
            ),
        ),
        paper=(
            Panel(
                f"Appendix, residual stopping errors: mean loss {PAPER_LOSS}, no intervals given.",
                table((("Event", "text"), ("Rate", "share")), PAPER),
                (_dots("Rates of events", dict(PAPER)),),
            ),
        ),
        notes=(
            "Premature: at its STOP the best continuation in the teacher's tree has a strictly "
            "higher J. Late: the teacher preferred STOP at an earlier prefix of the trajectory. "
            f"Forced: K_max = {about.max_records} records without STOP. No room: nothing that was "
            "left fitted, or nothing was left.",
            "Loss: the best continuation's J less STOP's where it stopped too early; J at the "
            "first prefix where the teacher would have stopped less J at the end where that came "
            "too late; the larger where both happen; else 0. Being forced is no loss by itself.",
            "The teacher knows the reference and takes the best of many continuations, so part of "
            "a premature loss is luck that no policy could have foreseen. Its tree is bounded, so "
            "a better continuation may be missing from it. This is not the regret against the "
            "exact oracle.",
            "Intervals: 95%, users drawn with replacement.",
        ),
    )


def _rate(rows: Sequence[StopErrorRow], event: Event) -> Interval:
    return clustered([float(event(row)) for row in rows], [row.cluster for row in rows])


def _loss(rows: Sequence[StopErrorRow]) -> Interval:
    return clustered([row.audit.loss for row in rows], [row.cluster for row in rows])


def _line(name: str, rows: Sequence[StopErrorRow]) -> tuple[Value, ...]:
    event = _EVENTS[name]
    having = [row for row in rows if event(row)]
    part = clustered([row.audit.loss * event(row) for row in rows], [row.cluster for row in rows])
    return (name, len(having), _rate(rows, event), _loss(having) if having else None, part)


def _task_line(name: str, rows: Sequence[StopErrorRow]) -> tuple[Value, ...]:
    rates = (_rate(rows, event) for event in list(_EVENTS.values())[:4])
    return (name, len(rows), *rates, _loss(rows))


def _dots(title: str, rates: Mapping[str, Interval | float]) -> DotChart:
    dots = tuple(
        Dot(name, one.mean, one.low, one.high) if isinstance(one, Interval) else Dot(name, one)
        for name, one in rates.items()
    )
    return DotChart(title, "requests", dots, x_format="share")


def _answer(rows: Sequence[StopErrorRow], rates: Mapping[str, Interval]) -> str:
    loss, users = _loss(rows), [row.cluster for row in rows]
    late_less_premature = clustered(
        [float(row.audit.is_late) - float(row.audit.is_premature) for row in rows], users
    )
    said = (
        f"Of {len(rows)} held-out requests the policy stops too early at "
        f"{share_in_words(rates['premature'])} and too late at {share_in_words(rates['late'])}; "
        f"{share_in_words(rates['forced at K_max'])} are ended by K_max. Against the teacher's "
        f"benchmark it loses {loss.mean:.3f} of J a request ({loss.low:.3f} to {loss.high:.3f}). "
    )
    one, other = "too late", "too early"
    if late_less_premature.mean < 0:
        one, other = other, one
    if not differs(late_less_premature, len(set(users))):
        return said + "Which of the two errors is more frequent cannot be told."
    return said + f"It stops {one} more often than {other}."


STOP_ERRORS = Diagnostic("stop-errors", StopErrorsConfig, StopErrorRow, measure, section)
