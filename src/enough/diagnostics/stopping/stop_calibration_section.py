"""Calibration of STOP as a reliability curve and tables of measures.

In: rows of states. Out: bins with counts and intervals, which the paper's figure lacks, and Brier
score, ECE, AUROC and AUPRC over all states, by task and by length.
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.diagnostics.diagnostic import About
from enough.diagnostics.sections import (
    Format,
    Line,
    LineChart,
    Panel,
    Point,
    Section,
    Value,
    table,
)
from enough.diagnostics.stopping.calibration_curve import Bin, expected_error, reliability
from enough.diagnostics.stopping.stop_states import (
    Measures,
    States,
    StopCalibrationConfig,
    StopStateRow,
    WithinTasks,
    measures,
    within_tasks,
)
from enough.diagnostics.told_apart import differs

PAPER = ((0.10, 0.09), (0.30, 0.26), (0.50, 0.49), (0.70, 0.73), (0.90, 0.88))
PAPER_MEASURES = (("Brier score", 0.116), ("ECE", 0.028), ("AUROC", 0.839), ("AUPRC", 0.794))
_LENGTHS = ("no records", "one record", "two records", "three or more")

_BIN_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Probability", "text"),
    ("States", "count"),
    ("Users", "count"),
    ("Mean probability", "number"),
    ("Teacher stops", "number"),
)
_MEASURE_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Measure", "text"),
    ("Controller", "number"),
    ("Constant guess", "number"),
)
_GROUP_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("States", "text"),
    ("Number", "count"),
    ("Users", "count"),
    ("Teacher stops", "share"),
    ("Mean probability", "share"),
    ("Brier score", "number"),
    ("ECE", "number"),
    ("AUROC", "number"),
    ("AUPRC", "number"),
)


def section(rows: Sequence[StopStateRow], config: StopCalibrationConfig, about: About) -> Section:
    """The reliability curve, and measures over all states, by task and by length."""
    states = States.of(rows)
    bins = reliability(states.probability, states.stops, states.users, config.bins)
    whole = measures(states, config.bins)
    expected = expected_error(states.probability, config.bins)
    return Section(
        name="stop-calibration",
        title="Calibration of STOP",
        question="Does the stop probability say how often the teacher would stop?",
        answer=_answer(whole, expected),
        panels=(
            Panel(
                "Mean stop probability and share of teacher stops in bins of equal width.",
                table(_BIN_COLUMNS, [_bin_line(one) for one in bins]),
                (_curve("controller", _points(bins)),),
            ),
            Panel(
                "Over all states. A constant guess is the share of teacher stops everywhere.",
                table(_MEASURE_COLUMNS, _measure_lines(whole, within_tasks(states))),
            ),
            Panel(
                "By task and by length of the profile at the state.",
                table(_GROUP_COLUMNS, _group_lines(rows, config.bins)),
            ),
        ),
        paper=(
            Panel(
                "Figure app-stop-calibration: five bins, without counts or intervals.",
                table((("Mean probability", "number"), ("Teacher stops", "number")), PAPER),
                (_curve("controller", tuple(Point(x, y) for x, y in PAPER)),),
            ),
            Panel(
                "Its measures, pooled over six LaMP tasks.",
                table((("Measure", "text"), ("Controller", "number")), PAPER_MEASURES),
            ),
        ),
        notes=(
            "This is calibration to the bounded teacher, which knows the reference and looks at a "
            "sampled tree; it does not say how likely STOP is to be globally optimal.",
            "States: those of held-out trees all of whose feasible records are labelled"
            + (", the policy's own states among them." if config.visited else "."),
            "Probability: σ(Δ/T_s + b), both frozen before; the paper has no b. A tie of the "
            "teacher counts as STOP.",
            f"ECE is never zero on few states: probabilities that were exactly right would have "
            f"{expected:.3f} here.",
            "Intervals: 95%, users drawn with replacement; in bins Wilson's, a user counting once, "
            "since redrawing shows no doubt where all states agree.",
        ),
    )


def _bin_line(one: Bin) -> tuple[Value, ...]:
    return (f"{one.low:.2f} to {one.high:.2f}", one.cases, one.users, one.probability, one.share)


def _points(bins: Sequence[Bin]) -> tuple[Point, ...]:
    return tuple(
        Point(one.probability, one.share.mean, one.share.low, one.share.high, f"{one.cases} states")
        for one in bins
        if one.probability is not None and one.share is not None
    )


def _curve(name: str, points: tuple[Point, ...]) -> LineChart:
    return LineChart(
        "Reliability of the stop probability",
        "mean stop probability",
        "share of teacher stops",
        (Line(name, points),),
        has_diagonal=True,
    )


def _measure_lines(whole: Measures, within: WithinTasks) -> list[tuple[Value, ...]]:
    share = whole.stop_share.mean
    chance = 0.5 if whole.auroc else None
    return [
        ("States", whole.states, None),
        ("Share of teacher stops", whole.stop_share, share),
        ("Mean stop probability", whole.probability, share),
        ("Brier score", whole.brier, share * (1 - share)),
        ("ECE", whole.ece, 0.0),
        ("AUROC", whole.auroc, chance),
        ("AUPRC", whole.auprc, share if whole.auprc else None),
        ("AUROC within tasks", within.auroc, chance),
        ("AUPRC within tasks", within.auprc, None),
        ("Tasks with both decisions", within.tasks, None),
    ]


def _group_lines(rows: Sequence[StopStateRow], bins: int) -> list[tuple[Value, ...]]:
    groups: dict[str, list[StopStateRow]] = {}
    for row in sorted(rows, key=lambda row: row.task):
        groups.setdefault(row.task, []).append(row)
    for row in sorted(rows, key=lambda row: row.records):
        groups.setdefault(_LENGTHS[min(row.records, len(_LENGTHS) - 1)], []).append(row)
    lines: list[tuple[Value, ...]] = []
    for name, some in groups.items():
        one = measures(States.of(some), bins)
        found = (one.stop_share, one.probability, one.brier, one.ece, one.auroc, one.auprc)
        lines.append((name, one.states, one.users, *found))
    return lines


def _answer(whole: Measures, expected: float) -> str:
    said = (
        f"At {whole.states} states of {whole.users} held-out users the teacher stops at "
        f"{whole.stop_share.mean:.0%}, and the controller expects {whole.probability.mean:.0%}. "
        f"Its ECE is {whole.ece.mean:.3f} ({whole.ece.low:.3f} to {whole.ece.high:.3f}), where "
        f"exact probabilities would have {expected:.3f}. "
    )
    if whole.auroc is None:
        return said + "The teacher always decides alike, so nothing can be told apart."
    within = f"AUROC {whole.auroc.mean:.2f} ({whole.auroc.low:.2f} to {whole.auroc.high:.2f})"
    if not differs(whole.auroc, whole.users, 0.5):
        return said + f"Whether it tells stops better than chance is not known ({within})."
    better = "better" if whole.auroc.mean > 0.5 else "worse"
    return said + f"It tells the teacher's stops {better} than chance ({within})."
