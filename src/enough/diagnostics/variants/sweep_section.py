"""What rows of the sweeps say: a table and charts for each setting, and the frontier of λ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from enough.diagnostics.diagnostic import About
from enough.diagnostics.sections import (
    Format,
    Line,
    LineChart,
    Panel,
    Point,
    Section,
    Table,
    Value,
    table,
)
from enough.diagnostics.told_apart import FEWEST_USERS, differs
from enough.diagnostics.variants.sweep_paper import paper_panels
from enough.diagnostics.variants.sweep_settings import (
    LENGTH,
    PARAMETERS,
    STUDY,
    Parameter,
    SweepConfig,
    SweepRow,
)
from enough.diagnostics.variants.sweep_values import SweptValue, swept_values
from enough.evaluation.intervals import Interval

Measure = Callable[[SweptValue], Value]
Drawn = Callable[[SweptValue], Interval | None]

_DRAWN: Mapping[str, tuple[Format, Drawn]] = {
    "Quality": ("quality", lambda one: one.summary.quality),
    "J": ("signed", lambda one: one.summary.net),
    "Tokens": ("count", lambda one: one.summary.tokens),
    "Specificity": ("number", lambda one: one.summary.specificity),
    "Log-likelihood gain": ("signed", lambda one: one.summary.log_likelihood_gain),
    "Regret": ("number", lambda one: one.regret),
}
_COLUMNS: Mapping[str, tuple[Format, Measure]] = {
    "Quality": _DRAWN["Quality"],
    "Tokens": _DRAWN["Tokens"],
    "Records": ("number", lambda one: one.summary.records),
    "Harm": ("share", lambda one: one.summary.harm),
    "Root STOP": ("share", lambda one: one.summary.root_stop),
    "Specificity": _DRAWN["Specificity"],
    "Log-likelihood gain": _DRAWN["Log-likelihood gain"],
    "J": _DRAWN["J"],
    "Change of J": ("signed", lambda one: one.change),
    "J at its own β, λ": ("signed", lambda one: one.own_net),
    "Regret": _DRAWN["Regret"],
}


def section(rows: Sequence[SweepRow], config: SweepConfig, about: About) -> Section:
    """A panel for every parameter that was varied, and the frontier."""
    found = {one: swept_values(rows, one.field, about.tasks) for one in PARAMETERS}
    swept = {one: values for one, values in found.items() if values}
    panels = [_panel(one, values) for one, values in swept.items()]
    priced = [values for one, values in swept.items() if one.field == "lambda_"]
    lengths = swept_values(rows, LENGTH, about.tasks)
    frontier = [_frontier(values, lengths) for values in priced]
    study = [row.tried for row in rows if row.parameter == STUDY]
    return Section(
        name="sweeps",
        title="Sweeps",
        question="How much hangs on each setting, and what does a token buy?",
        answer=_answer(swept, len(study), len({one.cluster for one in study})),
        panels=(*frontier, *panels),
        paper=paper_panels(),
        notes=(
            f"One setting is varied at a time. J is at the study's β = {about.point.beta:g} and "
            f"λ = {about.point.lambda_:g} everywhere; where these are varied, J at the value's own "
            "is beside it.",
            "Quality: official metrics of every task, oriented and divided by those of the "
            "study's own controller, times 100.",
            "Values of β, λ, η and ζ are trained on the study's labels and begin with the weights "
            "it begins with. Values of M, K_max, K⁻ and (J, W) have labels of their own, without "
            "a second round; the study's own value is labelled in the same way there.",
            "Change of J: from the study's own value, on the same requests. Regret: J lost "
            "against the exact oracle on reduced pools, where it was measured.",
            "Intervals: 95%, users drawn with replacement; nothing is corrected for the number "
            "of values, so one interval in twenty leaves out zero by chance.",
        ),
    )


def _panel(parameter: Parameter, values: Sequence[SweptValue]) -> Panel:
    names = [name for name in ("Quality", "J", parameter.beside) if name]
    charts = (_chart(parameter, values, name) for name in names)
    return Panel(
        f"{parameter.sign}, {parameter.meaning}; the study's own value is marked (*).",
        _table(parameter.sign, values),
        tuple(chart for chart in charts if chart.lines[0].points),
    )


def _chart(parameter: Parameter, values: Sequence[SweptValue], name: str) -> LineChart:
    """Values stand at equal distances, since some lie close together and others far apart."""
    form, of = _DRAWN[name]
    points = [
        Point(place, found.mean, found.low, found.high)
        for place, one in enumerate(values)
        if (found := of(one)) is not None
    ]
    return LineChart(
        f"{name} by {parameter.sign}",
        f"{parameter.sign}, {parameter.meaning}",
        name,
        (Line("ENOUGH", tuple(points)),),
        ticks=tuple((float(place), one.value) for place, one in enumerate(values)),
        y_format=form,
        marked=next((float(place) for place, one in enumerate(values) if one.is_own), None),
    )


def _table(title: str, values: Sequence[SweptValue]) -> Table:
    """Columns that no value has are left out."""
    cells = {name: [of(one) for one in values] for name, (_, of) in _COLUMNS.items()}
    kept = [name for name, column in cells.items() if any(cell is not None for cell in column)]
    names = [f"{one.value}*" if one.is_own else one.value for one in values]
    return table(
        [(title, "text"), *((name, _COLUMNS[name][0]) for name in kept)],
        [(name, *(cells[column][i] for column in kept)) for i, name in enumerate(names)],
    )


def _frontier(priced: Sequence[SweptValue], lengths: Sequence[SweptValue]) -> Panel:
    """What quality, J and likelihood cost in tokens."""
    groups = {"ENOUGH, λ": priced, "fixed k": lengths}
    named = [(f"{name} = {one.value}", one) for name, values in groups.items() for one in values]
    charts = []
    for measure in ("Quality", "J", "Log-likelihood gain"):
        form, of = _DRAWN[measure]
        lines = [Line(name, _by_tokens(name, values, of)) for name, values in groups.items()]
        drawn = tuple(line for line in lines if line.points)
        charts.append(
            LineChart(f"{measure} by tokens", "tokens a request", measure, drawn, y_format=form)
        )
    columns = ("Tokens", "Quality", "J", "Log-likelihood gain")
    return Panel(
        "The frontier: what the price of tokens buys, beside the first k records of the retriever.",
        table(
            [("Setting", "text"), *((name, _DRAWN[name][0]) for name in columns)],
            [(name, *(_DRAWN[column][1](one) for column in columns)) for name, one in named],
        ),
        tuple(chart for chart in charts if chart.lines),
    )


def _by_tokens(name: str, values: Sequence[SweptValue], of: Drawn) -> tuple[Point, ...]:
    points = [
        Point(one.summary.tokens.mean, found.mean, found.low, found.high, f"{name} = {one.value}")
        for one in values
        if (found := of(one)) is not None
    ]
    return tuple(sorted(points, key=lambda point: point.x))


def _answer(swept: Mapping[Parameter, Sequence[SweptValue]], requests: int, users: int) -> str:
    if not swept:
        return "Nothing was varied."
    on = f"On {requests} requests of {users} users"
    if users < FEWEST_USERS:
        return f"{on} nothing can be told apart: these are too few.{_spent(swept)}"
    told, same = [], []
    for parameter, values in swept.items():
        apart = [
            f"{parameter.sign} = {one.value} changes J by {one.change.mean:+.2f} "
            f"[{one.change.low:+.2f}, {one.change.high:+.2f}]"
            for one in values
            if one.change is not None and differs(one.change, users)
        ]
        told += apart
        same += [] if apart else [parameter.sign]
    none = f"no value of {', '.join(same)} can be told apart from the study's own by J"
    parts = [*told, *([none] if same else [])]
    return f"{on}, one setting varied at a time: {'; '.join(parts)}.{_spent(swept)}"


def _spent(swept: Mapping[Parameter, Sequence[SweptValue]]) -> str:
    """What the price of tokens does to them."""
    for parameter, values in swept.items():
        if parameter.field == "lambda_" and len(values) > 1:
            first, last = values[0], values[-1]
            return (
                f" From λ = {first.value} to {last.value} profiles go from "
                f"{first.summary.tokens.mean:,.0f} to {last.summary.tokens.mean:,.0f} tokens."
            )
    return ""
