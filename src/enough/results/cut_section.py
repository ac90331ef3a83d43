"""ENOUGH against fixed lengths with users who had been met before, told apart from all others.

In: published outcomes, of which some are later requests of users dealt to the slices that somebody
learns from. Out: Markdown: the reported users, those of each such slice, and all together. Tasks
are mixed otherwise there, so sums also stand with the reported users' shares of tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from enough.diagnostics.sections import Format, Value, table
from enough.evaluation.published_outcomes import PublishedOutcome
from enough.results.default_section import default_sentences
from enough.results.length_sections import (
    against_best,
    pooled_table,
    task_table,
    verdict_sentence,
)
from enough.results.operating_points import Measured, OperatingPoint, operating_points
from enough.results.wording import joined, markdown_table, plain_text

_LEARNT_FROM = "label"
"""The slice that controllers are trained on."""


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Some of the users, in words, and what was found with them at every operating point."""

    whose: str
    points: Sequence[OperatingPoint]


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """All that are looked at.

    Attributes:
        reported: users nobody learnt from.
        alone: those of each slice that somebody learns from.
        together: the reported ones with some of the others, with all of them last.
    """

    reported: Cut
    alone: Sequence[Cut]
    together: Sequence[Cut]


def cuts_of(rows: Sequence[PublishedOutcome], reported: Sequence[OperatingPoint]) -> Cuts | None:
    """None, if nobody returns."""
    met = list(dict.fromkeys(row.met_in for row in rows if row.met_in is not None))
    if not met:
        return None
    others = [name for name in met if name != _LEARNT_FROM]
    together = [Cut("all of them", operating_points(rows, whose=[None, *met]))]
    if others and others != met:
        points = operating_points(rows, whose=[None, *others])
        together.insert(0, Cut(f"all but the slice {_LEARNT_FROM}", points))
    return Cuts(
        Cut("users nobody learnt from", reported),
        [Cut(f"the slice {name}, later", operating_points(rows, whose=[name])) for name in met],
        together,
    )


def cut_section(cuts: Cuts, closely: OperatingPoint) -> str:
    """Everything; `closely` is the operating point that is looked at closely elsewhere."""
    everybody = cuts.together[-1].points
    requests = len(everybody[0].users)
    further = requests - len(cuts.reported.points[0].users)
    same = [p for p in everybody if (p.beta, p.lambda_) == (closely.beta, closely.lambda_)]
    drawn = [(point, point.resampling()) for point in everybody]
    return joined(
        [
            "### With users who had been met",
            f"{further:,} further requests are of users dealt to the slices that somebody learns "
            "from, for tuning, labels or choices. Nobody learnt from these requests, but maybe "
            "from earlier ones of the same users, and controllers may be at an advantage with "
            "those of their labels. What is said of all together contains the requests above; it "
            "is no independent test.",
            _requests(cuts),
            "ENOUGH less the best fixed k per task:",
            _differences(cuts),
            "*Weighed*: tasks count as often as among users nobody learnt from.",
            f"All {requests:,} together:",
            pooled_table(drawn),
            *(verdict_sentence(point, resampling) for point, resampling in drawn),
            "ENOUGH less the best fixed k of the task, task by task:",
            task_table(everybody),
            *(
                f"At λ = {one.lambda_:g}, weighed: {sentence}"
                for one in same
                for sentence in default_sentences(weighed(one, cuts.reported.points[0]))
            ),
        ]
    )


def weighed(point: OperatingPoint, like: OperatingPoint) -> OperatingPoint:
    """With values that count as often as another point's tasks do: means are then those of it."""
    own, wanted = Counter(point.tasks), Counter(like.tasks)
    factor = {t: (wanted[t] / len(like.tasks)) / (own[t] / len(point.tasks)) for t in own}
    weights = np.array([factor[task] for task in point.tasks])  # [n]

    def scaled(one: Measured) -> Measured:
        return Measured(*(getattr(one, field.name) * weights for field in fields(one)))

    return replace(
        point,
        ours=None if point.ours is None else scaled(point.ours),
        fixed={k: scaled(one) for k, one in point.fixed.items()},
    )


def _requests(cuts: Cuts) -> str:
    every = [cuts.reported, *cuts.alone, cuts.together[-1]]
    counts = [Counter(cut.points[0].tasks) for cut in every]
    rows: list[list[Value]] = [
        [plain_text(task), *(count[task] for count in counts)]
        for task in cuts.together[-1].points[0].task_names
    ]
    rows.append(["all", *(count.total() for count in counts)])
    heads: list[tuple[str, Format]] = [("requests", "text")]
    heads += [(cut.whose, "count") for cut in every]
    return markdown_table(table(heads, rows))


def _differences(cuts: Cuts) -> str:
    like = cuts.reported.points[0]
    rows = [_row(cut.whose, cut.points) for cut in (cuts.reported, *cuts.alone)]
    for cut in cuts.together:
        rows.append(_row(cut.whose, cut.points))
        rows.append(_row(f"{cut.whose}, weighed", [weighed(point, like) for point in cut.points]))
    heads: list[tuple[str, Format]] = [("users", "text"), ("requests", "count")]
    heads += [(f"λ = {point.lambda_:g}", "signed") for point in cuts.reported.points]
    return markdown_table(table(heads, rows))


def _row(whose: str, points: Sequence[OperatingPoint]) -> list[Value]:
    row: list[Value] = [whose, len(points[0].users)]
    for point in points:
        difference = against_best(point, point.resampling())
        row.append(None if difference is None else difference.interval)
    return row
