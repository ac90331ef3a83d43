"""What rows of the ablations say: changes from the full method, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from enough.diagnostics.diagnostic import About
from enough.diagnostics.sections import (
    Dot,
    DotChart,
    Format,
    Panel,
    Section,
    Value,
    table,
)
from enough.diagnostics.summaries import summarise
from enough.diagnostics.told_apart import FEWEST_USERS, differs
from enough.diagnostics.variants.ablation_paper import paper_panels
from enough.diagnostics.variants.ablation_rows import AblationConfig, AblationRow
from enough.diagnostics.variants.ablation_variants import FULL
from enough.diagnostics.variants.paired_changes import (
    MEASURES,
    Judged,
    change,
    metric_change,
    quality_change,
    users_of,
)
from enough.evaluation.intervals import Interval, clustered
from enough.tasks import METRIC_IS_HIGHER_BETTER, Task

_FORMATS: Mapping[str, Format] = {
    "J": "signed",
    "Quality": "quality",
    "Tokens": "count",
    "Harm": "share",
    "Root STOP": "share",
    "Regret": "signed",
}


def section(rows: Sequence[AblationRow], config: AblationConfig, about: About) -> Section:
    """Changes from full, levels, and every task's leading metric."""
    groups: dict[str, list[Judged]] = {}
    for row in rows:
        groups.setdefault(row.variant, []).append(Judged(row.tried, row.regret))
    forced = {row.variant: row.forced_length for row in rows if row.forced_length is not None}
    full = groups[FULL.title]
    titles = {name: f"{name}, k = {forced[name]}" if name in forced else name for name in groups}
    of_variants = {titles[name]: some for name, some in groups.items() if some is not full}
    changes = {name: _changes(some, full, about) for name, some in of_variants.items()}
    metrics = {name: _metrics(some, full, about) for name, some in of_variants.items()}
    where = {titles[row.variant]: row.group for row in rows}
    return Section(
        name="ablations",
        title="Ablations",
        question="Which parts of ENOUGH matter?",
        answer=_answer(changes, full),
        panels=(
            Panel(
                "Change from the full method, one part taken out at a time; intervals are those of "
                "paired differences.",
                table(
                    [("Variant", "text"), *_FORMATS.items()],
                    [(name, *of.values()) for name, of in changes.items()],
                ),
                _charts(changes, _FORMATS),
            ),
            Panel(
                "Change of every task's leading metric; errors are better lower.",
                table(
                    [("Variant", "text"), *((name, "signed") for name in _names(about.tasks))],
                    [(name, *of.values()) for name, of in metrics.items()],
                ),
                _charts(metrics, dict.fromkeys(_names(about.tasks), "signed")),
            ),
            Panel(
                "The same as levels. Quality: the full method has 100.",
                table(
                    _LEVELS,
                    [
                        _level(titles[name], some, full, about, where[titles[name]])
                        for name, some in groups.items()
                    ],
                ),
            ),
        ),
        paper=paper_panels(),
        notes=(
            "All controllers here, the full one too, are trained on the same labels from fresh "
            "weights, so the full one is not the study's own controller.",
            f"J is at β = {about.point.beta:g}, λ = {about.point.lambda_:g} for everybody, also "
            "for those that were trained without one of them.",
            "The forced length is the one with the highest mean J on the slice for choices, "
            "with the full method's controller.",
            "Regret: J lost against the exact oracle on reduced pools, where it was measured.",
            "The paper's variant without the harm gate is left out: the gate is no setting here.",
            "Intervals: 95%, users drawn with replacement. With several variants one interval in "
            "twenty leaves out zero by chance.",
        ),
    )


_LEVELS: tuple[tuple[str, Format], ...] = (
    ("Variant", "text"),
    ("In the paper", "text"),
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Records", "number"),
    ("Harm", "share"),
    ("Root STOP", "share"),
    ("J", "signed"),
    ("Regret", "number"),
)


def _changes(
    some: Sequence[Judged], full: Sequence[Judged], about: About
) -> dict[str, Interval | None]:
    found = {name: change(some, full, measure) for name, measure in MEASURES.items()}
    found["Quality"] = quality_change(some, full, about.tasks)
    return {name: found[name] for name in _FORMATS}


def _metrics(
    some: Sequence[Judged], full: Sequence[Judged], about: About
) -> dict[str, Interval | None]:
    names = _names(about.tasks)
    tasks = about.tasks.values()
    return {name: metric_change(some, full, task) for name, task in zip(names, tasks, strict=True)}


def _names(tasks: Mapping[str, Task]) -> list[str]:
    return [
        f"{name} {task.metrics[0]}{'' if METRIC_IS_HIGHER_BETTER[task.metrics[0]] else ' (error)'}"
        for name, task in tasks.items()
    ]


def _level(
    name: str, some: Sequence[Judged], full: Sequence[Judged], about: About, where: str
) -> tuple[Value, ...]:
    one = summarise([row.tried for row in some], [row.tried for row in full], about.tasks)
    known = [(row.regret, row.tried.cluster) for row in some if row.regret is not None]
    regret = clustered([r for r, _ in known], [u for _, u in known]) if known else None
    return (
        name,
        where,
        one.quality,
        one.tokens,
        one.records,
        one.harm,
        one.root_stop,
        one.net,
        regret,
    )


def _charts(
    changes: Mapping[str, Mapping[str, Interval | None]], formats: Mapping[str, Format]
) -> tuple[DotChart, ...]:
    charts = []
    for measure, form in formats.items():
        dots = [
            Dot(name, one.mean, one.low, one.high)
            for name, of in changes.items()
            if (one := of[measure]) is not None
        ]
        if dots:
            title = f"{measure}: change from full"
            charts.append(DotChart(title, measure, tuple(dots), x_format=form))
    return tuple(charts)


def _answer(changes: Mapping[str, Mapping[str, Interval | None]], full: Sequence[Judged]) -> str:
    users = users_of(full)
    on = f"On {len(full)} requests of {users} users"
    if users < FEWEST_USERS:
        return f"{on} nothing can be told apart: these are too few."
    told = {
        name: one
        for name, of in changes.items()
        if (one := of["J"]) is not None and differs(one, users)
    }
    if not told:
        return f"{on} no variant can be told apart from the full method by J."
    parts = [
        f"{name} {'raises' if one.mean > 0 else 'lowers'} J by {abs(one.mean):.2f} "
        f"[{one.low:+.2f}, {one.high:+.2f}]"
        for name, one in told.items()
    ]
    others = len(changes) - len(told)
    rest = f" The other {others} cannot be told apart from it by J." if others else ""
    return f"{on}, compared with the full method: {'; '.join(parts)}.{rest}"
