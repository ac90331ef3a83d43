"""Rows of the subgroups as tables and charts.

In: rows of ENOUGH and of a fixed length. Out: the section; buckets without a request stay in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.diagnostics.diagnostic import About
from enough.diagnostics.sections import Dot, DotChart, Format, Panel, Section, Value, table
from enough.diagnostics.stress.subgroup_rows import (
    DIMENSIONS,
    Group,
    SubgroupRow,
    SubgroupsConfig,
    bucket_quality,
    groups,
)
from enough.diagnostics.summaries import listed, summarise
from enough.diagnostics.tried import OURS, Tried
from enough.evaluation.intervals import Interval

PAPER = (
    ("History", "short", 98.9, 302, 0.266, 0.137),
    ("History", "medium", 99.5, 506, 0.168, 0.152),
    ("History", "long", 99.6, 727, 0.083, 0.180),
    ("Coverage", "low", 98.5, 354, 0.301, 0.182),
    ("Coverage", "medium", 99.3, 501, 0.169, 0.154),
    ("Coverage", "high", 99.7, 656, 0.081, 0.138),
    ("Difficulty", "easy", 99.5, 425, 0.202, 0.112),
    ("Difficulty", "medium", 99.3, 514, 0.166, 0.149),
    ("Difficulty", "hard", 98.8, 611, 0.131, 0.220),
)


def section(rows: Sequence[SubgroupRow], config: SubgroupsConfig, about: About) -> Section:
    """Quality, tokens, STOP at the root, harm, and the lead over a fixed length, by bucket."""
    found, fixed = groups(rows, config), f"k = {config.compare_length}"
    everybody = [row.tried for row in rows if row.method == OURS]
    return Section(
        name="subgroups",
        title="Subgroups",
        question="For whom does it work?",
        answer=_answer(found, fixed),
        panels=(
            Panel(
                "ENOUGH by bucket; 100 is ENOUGH on all reported requests.",
                table(_COLUMNS, [_line(one, everybody, about) for one in found]),
                (_quality_chart(found, everybody, about),),
            ),
            Panel(
                f"ENOUGH beside the first {config.compare_length} records of the retriever: where "
                "choosing the length for each request matters.",
                table(
                    (*_NAMES, *((f"{what}, {fixed}", form) for what, form in _FIXED), _LEAD),
                    [_compared(one, everybody, about) for one in found],
                ),
                (_lead_chart(found, fixed),),
            ),
            Panel(
                "Borders between buckets, frozen on the slice on which everything is chosen. A "
                "value at a border belongs above it.",
                table(_BORDER_COLUMNS, _borders(rows)),
            ),
        ),
        paper=(
            Panel(
                "Table app-subgroups: Qwen3.5-9B, six LaMP tasks, three seeds.",
                table(_PAPER_COLUMNS, PAPER),
            ),
        ),
        notes=_NOTES,
    )


_NAMES: tuple[tuple[str, Format], ...] = (
    ("Dimension", "text"),
    ("Bucket", "text"),
    ("Requests", "count"),
)
_COLUMNS: tuple[tuple[str, Format], ...] = (
    *_NAMES,
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Root STOP", "share"),
    ("Harm", "share"),
    ("J", "signed"),
)
_FIXED: tuple[tuple[str, Format], ...] = (
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Harm", "share"),
    ("J", "signed"),
)
_LEAD: tuple[str, Format] = ("J, ENOUGH less fixed", "signed")
_BORDER_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Dimension", "text"),
    ("Task", "text"),
    ("Borders", "text"),
)
_PAPER_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Dimension", "text"),
    ("Bucket", "text"),
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Root STOP", "share"),
    ("Harm", "share"),
)
_NOTES = (
    "Quality of a bucket: official metrics over its requests, divided by those of ENOUGH on all "
    "reported requests of the same task (errors the other way round), so that buckets and both "
    "methods have one common 100. Its mean over buckets need not be 100.",
    "A dash: a bucket without any error has nothing to divide by. Draws of users without one stand "
    "at the middle of the others.",
    "Macro F1 counts a label that a small bucket does not hold as 0, which lowers its quality.",
    "History: records the request may see, after the leakage controls. Coverage: share of the "
    "pool's records with matched controls. Difficulty: minus the log-likelihood of the reference "
    "without a profile, per token; its quantiles are those of the request's own task.",
    "Intervals: 95%, users drawn with replacement. Nine buckets are looked at: one whose interval "
    "just misses zero is no discovery, and one of fewer than six users is no claim.",
)


def _line(one: Group, everybody: Sequence[Tried], about: About) -> tuple[Value, ...]:
    if not one.ours:
        return (one.dimension, one.name, 0, None, None, None, None, None)
    found = summarise(one.ours, one.ours, about.tasks)
    quality = bucket_quality(one.ours, everybody, about.tasks)
    values = (quality, found.tokens, found.root_stop, found.harm, found.net)
    return (one.dimension, one.name, len(one.ours), *values)


def _compared(one: Group, everybody: Sequence[Tried], about: About) -> tuple[Value, ...]:
    if not one.fixed:
        return (one.dimension, one.name, 0, None, None, None, None, None)
    found = summarise(one.fixed, one.fixed, about.tasks)
    quality = bucket_quality(one.fixed, everybody, about.tasks)
    values = (quality, found.tokens, found.harm, found.net, one.lead)
    return (one.dimension, one.name, len(one.fixed), *values)


def _borders(rows: Sequence[SubgroupRow]) -> list[tuple[Value, ...]]:
    if not rows:
        return []
    of_tasks = {row.tried.task: row.difficulty_borders for row in rows}
    return [
        ("history", "all", _joined(rows[0].history_borders)),
        ("coverage", "all", _joined(rows[0].coverage_borders)),
        *(("difficulty", task, _joined(borders)) for task, borders in of_tasks.items()),
    ]


def _joined(borders: Sequence[float]) -> str:
    return ", ".join(f"{border:.3g}" for border in borders)


def _answer(found: Sequence[Group], fixed: str) -> str:
    leads = [(one, lead) for one in found if (lead := one.lead) is not None]
    if not leads:
        return "There is no request to tell anything from."
    ahead = [_told(one, lead) for one, lead in leads if one.sign > 0]
    behind = [_told(one, lead) for one, lead in leads if one.sign < 0]
    told = []
    if ahead:
        told.append(f"J of {OURS} is above that of {fixed} in {listed(ahead)}.")
    if behind:
        told.append(f"It is below in {listed(behind)}.")
    rest = len(leads) - len(ahead) - len(behind)
    if rest:
        total = sum(len(one.ours) for one in found if one.dimension == DIMENSIONS[0])
        told.append(
            f"In {rest} of {len(leads)} buckets {OURS} and {fixed} cannot be told apart on "
            f"{total} requests in all."
        )
    if empty := [f"{one.dimension} {one.name}" for one in found if not one.ours]:
        told.append(f"Nobody is in {listed(empty)}.")
    return " ".join(told)


def _told(one: Group, lead: Interval) -> str:
    return f"{one.dimension} {one.name} ({lead.mean:+.2f})"


def _quality_chart(found: Sequence[Group], everybody: Sequence[Tried], about: About) -> DotChart:
    dots = []
    for one in found:
        quality = bucket_quality(one.ours, everybody, about.tasks) if one.ours else None
        if quality is not None:
            dots.append(_dot(one, quality))
    return DotChart(
        "Quality by bucket", "quality index", tuple(dots), x_format="quality", reference=100.0
    )


def _lead_chart(found: Sequence[Group], fixed: str) -> DotChart:
    dots = tuple(_dot(one, lead) for one in found if (lead := one.lead) is not None)
    return DotChart(f"J of {OURS} less that of {fixed}", "difference in J", dots, "signed")


def _dot(one: Group, value: Interval) -> Dot:
    return Dot(f"{one.dimension}: {one.name}", value.mean, value.low, value.high)
