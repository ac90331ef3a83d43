"""ENOUGH against fixed lengths at every λ, in words and tables.

In: operating points. Out: Markdown. "Above": the whole interval of the difference lies above zero.
"Not inferior": it lies above −0.05. Whatever else it is, the text says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from enough.diagnostics.sections import Format, Value, table
from enough.diagnostics.told_apart import FEWEST_USERS
from enough.evaluation.intervals import Estimate, Interval, Resampling, estimate
from enough.report.formats import number_text
from enough.results.operating_points import OperatingPoint
from enough.results.wording import in_words, joined, markdown_table, plain_text

MARGIN = 0.05
"""How far J may lie below the best fixed length's and still not count as inferior."""


def verdict(difference: Interval, users: int) -> str:
    """What an interval of ENOUGH's J less another's says."""
    if users < FEWEST_USERS:
        return "too few users to tell"
    if difference.low > 0:
        return "above"
    below = difference.high < 0
    if difference.low > -MARGIN:
        return "not inferior, yet below" if below else "not inferior"
    return "below" if below else "not shown to be as good"


def against_best(point: OperatingPoint, resampling: Resampling) -> Estimate | None:
    """J of ENOUGH less that of the best fixed length per task, request by request."""
    if point.ours is None:
        return None
    return estimate(point.ours.net - point.best_per_task.net, resampling)


def lengths_section(points: Sequence[OperatingPoint]) -> str:
    """All operating points beside each other."""
    drawn = [(point, point.resampling()) for point in points]
    return joined(
        [
            "## Net utility against fixed lengths",
            "J is the gain in likelihood plus β times its personal part, less λ for every 1,024 "
            "tokens; gain and personal part are in units of each task's scale. Fixed k takes the "
            "first k records of the same pool. The best k, over all tasks and for each, was chosen "
            "on other users. Brackets hold 95% intervals: users are resampled, each with all "
            "requests and all seeds.",
            pooled_table(drawn),
            *(verdict_sentence(point, resampling) for point, resampling in drawn),
            "J of every fixed length:",
            _fixed(drawn),
            "The lengths that were chosen:",
            _chosen(points),
            "ENOUGH less the best fixed k of the task, task by task:",
            task_table(points),
        ]
    )


def pooled_table(drawn: Sequence[tuple[OperatingPoint, Resampling]]) -> str:
    """J of ENOUGH and of the best fixed lengths at every λ, and the differences."""
    rows: list[list[Value]] = []
    for point, resampling in drawn:
        difference = against_best(point, resampling)
        best = point.fixed[point.best].net
        single = None if point.ours is None else estimate(point.ours.net - best, resampling)
        rows.append(
            [
                f"{point.lambda_:g}",
                None if point.ours is None else estimate(point.ours.net, resampling).interval,
                ", ".join(number_text(net, "signed") for net in point.seeds.values()) or None,
                estimate(best, resampling).interval,
                None if single is None else single.interval,
                estimate(point.best_per_task.net, resampling).interval,
                None if difference is None else difference.interval,
                None if difference is None else verdict(difference.interval, resampling.users),
            ]
        )
    return markdown_table(
        table(
            [
                ("λ", "text"),
                ("ENOUGH", "signed"),
                ("its seeds", "text"),
                ("best fixed k", "signed"),
                ("ENOUGH less that", "signed"),
                ("best fixed k per task", "signed"),
                ("ENOUGH less that", "signed"),
                ("", "text"),
            ],
            rows,
        )
    )


def verdict_sentence(point: OperatingPoint, resampling: Resampling) -> str:
    """The difference to the best fixed length per task, in words."""
    difference = against_best(point, resampling)
    if difference is None:
        return f"At λ = {point.lambda_:g} no controller was compared."
    said = {
        "above": "ENOUGH is above the best fixed k per task",
        "not inferior": "ENOUGH is not inferior to the best fixed k per task; neither is it above",
        "not inferior, yet below": "ENOUGH is below the best fixed k per task, but not inferior by "
        "the margin",
        "below": "**ENOUGH is below the best fixed k per task**",
        "not shown to be as good": "ENOUGH is not shown to be as good as the best fixed k per task",
        "too few users to tell": "there are too few users to tell ENOUGH from the best fixed k "
        "per task",
    }[verdict(difference.interval, resampling.users)]
    return f"At λ = {point.lambda_:g} {said}: the difference is {in_words(difference)}."


def _fixed(drawn: Sequence[tuple[OperatingPoint, Resampling]]) -> str:
    lengths = sorted({k for point, _ in drawn for k in point.fixed})
    rows = [
        [
            f"{point.lambda_:g}",
            *(
                estimate(point.fixed[k].net, resampling).interval if k in point.fixed else None
                for k in lengths
            ),
        ]
        for point, resampling in drawn
    ]
    heads: list[tuple[str, Format]] = [("λ", "text"), *((f"k = {k}", "signed") for k in lengths)]
    return markdown_table(table(heads, rows))


def _chosen(points: Sequence[OperatingPoint]) -> str:
    tasks = points[0].task_names
    rows = [[f"{p.lambda_:g}", p.best, *(p.best_of.get(task) for task in tasks)] for p in points]
    heads: list[tuple[str, Format]] = [
        ("λ", "text"),
        ("all tasks", "count"),
        *((plain_text(t), "count") for t in tasks),
    ]
    return markdown_table(table(heads, rows))


def task_table(points: Sequence[OperatingPoint]) -> str:
    """The same difference, task by task."""
    tasks = points[0].task_names
    rows: list[list[Value]] = []
    for task in tasks:
        row: list[Value] = [plain_text(task)]
        for point in points:
            part = point.of_task(task)
            difference = against_best(part, part.resampling())
            row.append(None if difference is None else difference.interval)
        rows.append(row)
    heads: list[tuple[str, Format]] = [
        ("task", "text"),
        *((f"λ = {point.lambda_:g}", "signed") for point in points),
    ]
    return markdown_table(table(heads, rows))
