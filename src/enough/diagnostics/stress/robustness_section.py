"""What the robustness ladder shows (paper: Table app-robustness)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from enough.diagnostics.diagnostic import About
from enough.diagnostics.personal.left_out import left_out_sentence
from enough.diagnostics.sections import (
    BarChart,
    Format,
    Line,
    LineChart,
    Panel,
    Point,
    Section,
    Value,
    table,
)
from enough.diagnostics.stress.candidate_ladder import INJECTED, STEPS
from enough.diagnostics.stress.robustness_rows import OWN_POOL, LadderRow, RobustnessConfig
from enough.diagnostics.summaries import Summary, summarise
from enough.diagnostics.told_apart import FEWEST_USERS, differs
from enough.evaluation.intervals import Interval, clustered

PAPER = (
    ("No useful history", 96.3, 0, 0.00, 1.0, 0.0),
    ("+ useful record", 99.3, 220, 0.99, 0.182, 0.120),
    ("+ near duplicate", 99.3, 233, 1.06, 0.177, 0.119),
    ("+ irrelevant record", 99.2, 237, 1.08, 0.170, 0.131),
    ("+ action conflict", 98.5, 266, 1.25, 0.150, 0.190),
)
Steps = Mapping[str, Sequence[LadderRow]]
"""Step -> rows, of the same requests in the same order."""


def section(rows: Sequence[LadderRow], config: RobustnessConfig, about: About) -> Section:
    """What is chosen, and what comes of it, by step."""
    steps: dict[str, list[LadderRow]] = {}
    for row in rows:
        if not row.left_out:
            steps.setdefault(row.step, []).append(row)
    left_out = left_out_sentence(row.left_out for row in rows)
    reference = [row.tried for row in steps.get(OWN_POOL, ())]
    found = {
        step: summarise([row.tried for row in steps[step]], reference, about.tasks)
        for step in (*STEPS, OWN_POOL)
        if step in steps
    }
    return Section(
        name="robustness-ladder",
        title="Robustness ladder",
        question="Does the controller hold on when its candidates get harder?",
        answer=_answer(steps, left_out),
        panels=(
            Panel(
                f"Each step adds one record to the pool of the step before, for {len(reference)} "
                f"requests. {left_out}",
                table(_COLUMNS, [_line(step, one, steps[step]) for step, one in found.items()]),
                _charts(found, steps) if found else (),
            ),
        ),
        paper=(
            Panel(
                "Table app-robustness: controlled candidate injection, six LaMP tasks.",
                table(_PAPER_COLUMNS, PAPER),
                (
                    _line_chart("Quality by step", "quality index", "quality", 1),
                    _line_chart("Harm by step", "requests harmed", "share", 5),
                ),
            ),
        ),
        notes=(
            "A useful record is the one with the highest J alone, above 0; the first pool holds "
            "records whose J alone is at most 0. The near duplicate is the useful record with a "
            "word changed; the irrelevant one is somebody else's, the least similar to the request "
            "of several drawn at random; the conflict is the useful record's context with another "
            "label or another person's action, other than the reference where there is one. In "
            "tasks without contexts the word is changed in the action, and a conflict is another "
            "person's text. To take the near duplicate in place of the useful record is no error; "
            "to take both is.",
            "Quality: official metrics, oriented and divided by those of ENOUGH on the requests' "
            "own pools, times 100. Root STOP: no record is chosen. Harm: the answer is worse than "
            "without a profile. Intervals: 95%, users drawn with replacement.",
        ),
    )


_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Candidate ladder", "text"),
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Records", "number"),
    ("Root STOP", "share"),
    ("Harm", "share"),
    *((f"Holds the {kind}", "share") for kind in INJECTED),
)
_PAPER_COLUMNS = _COLUMNS[:6]


def _line(step: str, one: Summary, rows: Sequence[LadderRow]) -> tuple[Value, ...]:
    records = _mean(rows, lambda row: len(row.tried.records))
    stopped = _mean(rows, lambda row: not row.tried.records)
    held = (holding(rows, kind) for kind in INJECTED)
    return (step, one.quality, one.tokens, records, stopped, one.harm, *held)


def holding(rows: Sequence[LadderRow], kind: str) -> Interval | None:
    """Share of profiles with the injected record of a kind; None before it is injected."""
    step = rows[0].step
    if step not in STEPS or STEPS.index(step) <= INJECTED.index(kind):
        return None
    return _mean(rows, lambda row: kind in row.kinds)


def change(steps: Steps, later: str, earlier: str, of: Callable[[LadderRow], float]) -> Interval:
    """A value at one step less that at another, request by request."""
    pairs = zip(steps[later], steps[earlier], strict=True)
    users = [row.tried.cluster for row in steps[later]]
    return clustered([of(one) - of(other) for one, other in pairs], users)


def _mean(rows: Sequence[LadderRow], of: Callable[[LadderRow], float]) -> Interval:
    return clustered([float(of(row)) for row in rows], [row.tried.cluster for row in rows])


def _answer(steps: Steps, left_out: str) -> str:
    if not steps:
        return f"There is no request with a ladder. {left_out}"
    users = len({row.tried.cluster for row in steps[OWN_POOL]})
    useful = holding(steps[STEPS[1]], INJECTED[0])
    assert useful is not None
    longer = change(steps, STEPS[2], STEPS[1], lambda row: len(row.tried.records))
    harmed = change(steps, STEPS[4], STEPS[3], lambda row: float(row.tried.is_harmed))
    said = (
        f"The useful record is chosen for {useful.mean:.0%} of requests when it appears. A near "
        f"duplicate changes the number of records by {_shown(longer, users)}; a conflicting action "
        f"changes the share of harmed requests by {_shown(harmed, users)}."
    )
    if users < FEWEST_USERS:
        return f"{said} Requests: {len(steps[OWN_POOL])}, users: {users}, too few to tell apart."
    return said


def _shown(one: Interval, users: int) -> str:
    said = f"{one.mean:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"
    return said if differs(one, users) else f"{said}, not to be told from zero"


def _charts(found: Mapping[str, Summary], steps: Steps) -> tuple[LineChart | BarChart, ...]:
    quality = [found[step].quality for step in STEPS]
    harm = [found[step].harm for step in STEPS]
    held = [[holding(steps[step], kind) for step in STEPS] for kind in INJECTED]
    return (
        _interval_chart("Quality by step", "quality index", "quality", quality),
        _interval_chart("Harm by step", "requests harmed", "share", harm),
        BarChart(
            "Injected records that are chosen",
            "share of profiles",
            _SHORT,
            INJECTED,
            tuple(tuple(None if one is None else one.mean for one in of) for of in held),
            "share",
        ),
    )


_SHORT = ("none", "+ useful", "+ duplicate", "+ irrelevant", "+ conflict")
_TICKS = tuple((float(place), step) for place, step in enumerate(_SHORT))


def _interval_chart(
    title: str, y: str, form: Format, values: Sequence[Interval | None]
) -> LineChart:
    points = tuple(
        Point(place, one.mean, one.low, one.high)
        for place, one in enumerate(values)
        if one is not None
    )
    return LineChart(title, "pool", y, (Line("ENOUGH", points),), _TICKS, form)


def _line_chart(title: str, y: str, form: Format, column: int) -> LineChart:
    points = tuple(Point(place, float(row[column])) for place, row in enumerate(PAPER))
    return LineChart(title, "pool", y, (Line("ENOUGH", points),), _TICKS, form)
